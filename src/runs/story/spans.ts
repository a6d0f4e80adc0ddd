import { MAIN } from "../view.ts";
import { parentOf } from "./entries.ts";
import { PLAN_TOOLS } from "./plan-tools.ts";
import type { StampedEvent } from "./told.ts";

/** Something that took time: a bar of the timeline. */
export interface Span {
  kind: "item" | "call" | "helper" | "question";
  /** Whose lane it is in. */
  owner: string;
  /** The id of the item, the call or the question; a helper's owner. */
  id: string;
  label: string;
  from: number;
  /** Missing while it goes on. */
  to?: number;
  ok?: boolean;
}

/** The spans after an event. */
export function withSpan(spans: readonly Span[], event: StampedEvent): readonly Span[] {
  const { at } = event;
  switch (event.type) {
    case "plan-snapshot":
    case "plan-change": {
      const running = event.todos.filter(({ status }) => status === "in_progress");
      const isMine = ({ kind, owner, to }: Span): boolean =>
        kind === "item" && owner === event.owner && to === undefined;
      const kept = spans.map((span) =>
        isMine(span) && !running.some(({ id }) => id === span.id) ? { ...span, to: at } : span,
      );
      const begun = running.filter(({ id }) => !kept.some((span) => isMine(span) && span.id === id));
      return [
        ...kept,
        ...begun.map(({ id, content }): Span => ({
          kind: "item",
          owner: event.owner,
          id,
          label: content,
          from: at,
        })),
      ];
    }
    case "tool-start": {
      const { owner, call: id, name, about } = event;
      if (PLAN_TOOLS.includes(name)) return spans;
      return [...spans, { kind: "call", owner, id, label: about ? `${name} ${about}` : name, from: at }];
    }
    case "tool-end":
      return ended(spans, { kind: "call", owner: event.owner, id: event.call, at, ok: event.ok });
    case "subagent-start": {
      const { owner: id, name } = event;
      return [...spans, { kind: "helper", owner: parentOf(id), id, label: name, from: at }];
    }
    case "subagent-end": {
      const { owner: id, ok } = event;
      return ended(spans, { kind: "helper", owner: parentOf(id), id, at, ok });
    }
    case "question":
      if (spans.some((span) => span.kind === "question" && span.id === event.id && span.to === undefined))
        return spans;
      return [
        ...spans,
        { kind: "question", owner: MAIN, id: event.id, label: "Waited for an answer", from: at },
      ];
    case "answer":
      return ended(spans, { kind: "question", owner: MAIN, id: event.id, at });
    case "run-end":
      return spans.map((span) => (span.to === undefined ? { ...span, to: at } : span));
    case "run-start":
    case "model-start":
    case "model-retry":
    case "text":
    case "model-end":
    case "completion-refusal":
    case "notice":
      return spans;
  }
}

interface End extends Pick<Span, "kind" | "owner" | "id"> {
  at: number;
  ok?: boolean;
}

function ended(spans: readonly Span[], { kind, owner, id, at, ok }: End): readonly Span[] {
  const index = spans.findLastIndex(
    (span) => span.kind === kind && span.owner === owner && span.id === id && span.to === undefined,
  );
  if (index < 0) return spans;
  return spans.with(index, { ...spans[index]!, to: at, ...(ok !== undefined && { ok }) });
}
