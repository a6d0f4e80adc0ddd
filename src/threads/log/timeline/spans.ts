import { PLAN_TOOLS } from "../../../plan/presets/index.ts";
import { MAIN, ownerName } from "../../view/index.ts";
import { parentOf } from "../entries.ts";
import type { StampedEvent } from "../thread-events.ts";

/** A bar of the timeline. */
export interface Span {
  kind: "item" | "call" | "helper" | "question";
  /** The owner of its lane. */
  owner: string;
  /** The id of the item, the call or the question; a helper's owner. */
  id: string;
  label: string;
  from: number;
  /** Missing while it is open. */
  to?: number;
  ok?: boolean;
  verdict?: "done" | "part" | "failed";
}

/** The spans of a thread, with an index of those that are open. */
export class Spans {
  readonly #original: readonly Span[];
  readonly #spans: Span[];
  #isChanged = false;
  /** The index of each open span, by its key. */
  readonly #open = new Map<string, number>();

  constructor(spans: readonly Span[]) {
    this.#original = spans;
    this.#spans = [...spans];
    for (const [index, span] of spans.entries())
      if (span.to === undefined) this.#open.set(keyOf(span), index);
  }

  /** The same array as before if nothing changed. */
  get spans(): readonly Span[] {
    return this.#isChanged ? this.#spans : this.#original;
  }

  follow(event: StampedEvent): void {
    const { at } = event;
    switch (event.type) {
      case "plan-snapshot":
      case "plan-change": {
        const { owner } = event;
        const running = event.todos.filter(({ status }) => status === "in_progress");
        const ids = new Set(running.map(({ id }) => id));
        for (const span of this.#openSpans())
          if (span.kind === "item" && span.owner === owner && !ids.has(span.id)) this.#end(span, at);
        for (const { id, content } of running)
          this.#begin({ kind: "item", owner, id, label: content, from: at });
        return;
      }
      case "tool-start": {
        const { owner, call: id, name, about } = event;
        if (PLAN_TOOLS.has(name)) return;
        return this.#add({ kind: "call", owner, id, label: about ? `${name} ${about}` : name, from: at });
      }
      case "tool-end":
        return this.#end({ kind: "call", owner: event.owner, id: event.call }, at, event);
      case "subagent-start": {
        const { owner: id } = event;
        return this.#add({ kind: "helper", owner: parentOf(id), id, label: ownerName(id), from: at });
      }
      case "subagent-end": {
        const { owner: id } = event;
        for (const span of this.#openSpans())
          if (span.kind === "item" && span.owner === id) this.#end(span, at);
        return this.#end({ kind: "helper", owner: parentOf(id), id }, at, event);
      }
      case "question": {
        const { id } = event;
        return this.#begin({ kind: "question", owner: MAIN, id, label: "Waited for an answer", from: at });
      }
      case "answer":
        return this.#end({ kind: "question", owner: MAIN, id: event.id }, at);
      case "run-end":
        for (const span of this.#openSpans()) this.#end(span, at);
        return;
      case "run-start":
      case "model-start":
      case "model-retry":
      case "text":
      case "thought":
      case "tool-output":
      case "model-end":
      case "completion-refusal":
      case "message":
      case "notice":
      case "summary":
      case "summary-failure":
    }
  }

  #openSpans(): Span[] {
    return [...this.#open.values()].map((index) => this.#spans[index]!);
  }

  /** Adds a span unless it is open already. */
  #begin(span: Span): void {
    if (!this.#open.has(keyOf(span))) this.#add(span);
  }

  #add(span: Span): void {
    // A repeated start closes the earlier span.
    this.#end(span, span.from);
    this.#open.set(keyOf(span), this.#spans.length);
    this.#spans.push(span);
    this.#isChanged = true;
  }

  #end(
    of: Pick<Span, "kind" | "owner" | "id">,
    at: number,
    { ok, verdict }: Pick<Span, "ok" | "verdict"> = {},
  ): void {
    const index = this.#open.get(keyOf(of));
    if (index === undefined) return;
    const outcome = { ok, verdict };
    this.#spans[index] = { ...this.#spans[index]!, to: at, ...outcome };
    this.#open.delete(keyOf(of));
    this.#isChanged = true;
  }
}

function keyOf({ kind, owner, id }: Pick<Span, "kind" | "owner" | "id">): string {
  return `${kind} ${owner} ${id}`;
}
