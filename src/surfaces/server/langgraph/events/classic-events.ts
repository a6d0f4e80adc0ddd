import { AIMessageChunk, type BaseMessage } from "@langchain/core/messages";
import type { Interrupt } from "@langchain/langgraph";
import type { Chunk } from "../../../../threads/host/index.ts";
import { interruptOut } from "./wire.ts";

/** A client's selection of a run's stream. */
export interface StreamSelection {
  modes: ReadonlySet<string>;
  subgraphs: boolean;
}

export interface ClassicEvent {
  event: string;
  data: unknown;
}

/** The supported modes; `events` needs a run that was started with it. */
export const CLASSIC_MODES = [
  "values",
  "updates",
  "messages",
  "messages-tuple",
  "custom",
  "tasks",
  "tools",
  "checkpoints",
  "debug",
  "events",
] as const;

/** Converts a run's chunks, from the first on, to events of LangGraph's older protocol, for one reader. */
export class ClassicEvents {
  readonly #selection: StreamSelection;
  /** Messages as streamed so far, by id: mode `messages` repeats the whole message with each piece. */
  readonly #partial = new Map<string, BaseMessage>();
  /** Namespaces of graphs that have started a step since the last gap; undefined without a gap. */
  #stepped: Set<string> | undefined;
  #step = -1;

  constructor(selection: StreamSelection) {
    this.#selection = selection;
  }

  of(chunk: Chunk): ClassicEvent[] {
    if ("event" in chunk) return [chunk];
    const { namespace, mode, payload } = chunk;
    const { modes, subgraphs } = this.#selection;
    const isNested = namespace.length > 0;
    if (mode === "values") this.#stepped?.add(namespace.join("|"));
    if (mode === "messages") return this.#messages(payload as [BaseMessage, object], namespace);
    if (isNested && !subgraphs) return [];

    const name = this.#name(namespace);
    const isDebugged = modes.has("debug") && (mode === "checkpoints" || mode === "tasks");
    return [
      ...(modes.has(mode) ? [{ event: name(mode), data: withInterrupts(payload) }] : []),
      ...(isDebugged ? [{ event: name("debug"), data: this.#debug(mode, payload) }] : []),
    ];
  }

  /** The events that replace dropped chunks. `newest` is the newest complete state among them. */
  ofGap(newest: Chunk | undefined, run: object): ClassicEvent[] {
    const state = newest ? this.of(newest) : [];
    this.#partial.clear();
    this.#stepped = new Set();
    // Public clients pass a `metadata` event on or ignore it in every mode; at an `error` they would stop.
    return [{ event: "metadata", data: { ...run, gap: true } }, ...state];
  }

  #name(namespace: string[]): (mode: string) => string {
    const isNamed = this.#selection.subgraphs && namespace.length > 0;
    return (mode) => (isNamed ? `${mode}|${namespace.join("|")}` : mode);
  }

  #messages([message, metadata]: [BaseMessage, object], namespace: string[]): ClassicEvent[] {
    const { modes } = this.#selection;
    const name = this.#name(namespace);
    const tuple = modes.has("messages-tuple") ? [{ event: name("messages"), data: [message, metadata] }] : [];
    const isWhole = !AIMessageChunk.isInstance(message) || this.#hasBeginning(namespace);
    return modes.has("messages") && isWhole ? [...tuple, ...this.#whole(message, metadata, name)] : tuple;
  }

  /** Whether no piece of a message fell into a gap: its task begins and ends with a step of the graph. */
  #hasBeginning(namespace: string[]): boolean {
    return !this.#stepped || this.#stepped.has(namespace.slice(0, -1).join("|"));
  }

  #whole(message: BaseMessage, metadata: object, name: (mode: string) => string): ClassicEvent[] {
    const { id = "" } = message;
    const before = this.#partial.get(id);
    const isPiece = AIMessageChunk.isInstance(message);
    const whole = isPiece && AIMessageChunk.isInstance(before) ? before.concat(message) : message;
    this.#partial.set(id, whole);
    return [
      ...(before ? [] : [{ event: name("messages/metadata"), data: { [id]: { metadata } } }]),
      { event: name(isPiece ? "messages/partial" : "messages/complete"), data: [whole] },
    ];
  }

  /** An event of LangGraph's mode `debug`, which wraps the same payload. */
  #debug(mode: string, payload: unknown): object {
    const { metadata } = payload as { metadata?: { step?: number } };
    if (mode === "checkpoints") this.#step = metadata?.step ?? this.#step;
    const isResult = mode === "tasks" && "result" in (payload as object);
    const type = mode === "checkpoints" ? "checkpoint" : isResult ? "task_result" : "task";
    const step = mode === "checkpoints" ? this.#step : this.#step + 1;
    return { type, step, timestamp: new Date().toISOString(), payload };
  }
}

function withInterrupts(payload: unknown): unknown {
  const { __interrupt__: interrupts } = (payload ?? {}) as { __interrupt__?: Interrupt[] };
  if (!Array.isArray(interrupts)) return payload;
  return { ...(payload as object), __interrupt__: interrupts.map(interruptOut) };
}
