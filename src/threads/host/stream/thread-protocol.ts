import type { RunnableConfig } from "@langchain/core/runnables";
import {
  createLifecycleTransformer,
  type Interrupt,
  type ProtocolEvent,
  type StreamMode,
} from "@langchain/langgraph";
import { convertToProtocolEvent, isCheckpointEnvelope } from "@langchain/langgraph/stream";
import { isPlanChangeEvent } from "../../../middleware/plan/events.ts";
import { isSubagentEvent } from "../../../subagents/index.ts";
import { ContentBlocks } from "./content-blocks.ts";
import type { Sink } from "./event-log.ts";

/** An event of LangGraph's newer protocol. Its clients get it with its number in the log. */
export interface ThreadEvent {
  method: string;
  params: { namespace: string[]; timestamp: number; node?: string; data: unknown };
}

/** A piece of what LangGraph streams. */
export interface StreamPiece {
  namespace: string[];
  mode: StreamMode;
  payload: unknown;
}

/** A message of a run: a piece of its stream, or a function that writes one. */
export type Said = StreamPiece | (() => void);

/** Puts what a run says into the words of the protocol. */
export interface ThreadWriter {
  write: (said: Said, at: number) => void;
}

/**
 * A receiver of a thread's events. One that has `say` is told before they are made, and has them written when it
 * likes.
 */
export interface ThreadSink extends Sink<ThreadEvent> {
  say?: (writer: ThreadWriter, said: Said) => void;
}

type RootState = "running" | "completed" | "interrupted" | "failed";

/** Writes a run into a thread's log in LangGraph's newer protocol. */
export class ThreadProtocol implements ThreadWriter {
  /** Reads the model's words. */
  readonly callback = new ContentBlocks((namespace, node, data) =>
    this.#say(() => this.#push("messages", namespace, data, node)),
  );
  readonly #log: ThreadSink;
  readonly #graph: string;
  readonly #asked = new Set<string>();
  /** When it was said that is being written. */
  #at = 0;
  #held: StreamPiece | undefined;
  #knownLifecycle: ReturnType<typeof createLifecycleTransformer> | undefined;

  constructor(log: ThreadSink, graph: string) {
    this.#log = log;
    this.#graph = graph;
  }

  /** Reports the state of the run itself. */
  root(event: RootState, error?: string): void {
    this.#say(() => this.#root(event, error));
  }

  /** Reports the run's open interrupts. */
  ask(namespace: string[], interrupts: readonly Interrupt[]): void {
    this.#say(() => this.#ask(namespace, interrupts));
  }

  chunk(piece: StreamPiece): void {
    const { namespace, mode, payload } = piece;
    // The callback says more of messages.
    if (mode === "messages") return;
    if (mode !== "checkpoints" || isCheckpointEnvelope(payload)) return this.#say(piece);
    // Not to be kept as it is: it has the config of the run in it, and so all of the run.
    const announced = { namespace, mode, payload: envelopeOf(payload) };
    this.#say(() => this.#announce(announced));
  }

  write(said: Said, at: number): void {
    this.#at = at;
    if (typeof said === "function") said();
    else this.#piece(said);
  }

  #say(said: Said): void {
    if (this.#log.say) this.#log.say(this, said);
    else this.write(said, Date.now());
  }

  get #lifecycle(): ReturnType<typeof createLifecycleTransformer> {
    if (this.#knownLifecycle) return this.#knownLifecycle;
    const lifecycle = createLifecycleTransformer({ emitRootOnRegister: false });
    lifecycle.onRegister?.({
      push: (namespace, { method, params }) => this.#push(method, namespace, params.data, params.node),
    });
    return (this.#knownLifecycle = lifecycle);
  }

  #root(event: RootState, error: string | undefined): void {
    if (this.#held) this.#take(this.#held);
    this.#held = undefined;
    if (event !== "running") void this.#lifecycle.finalize?.();
    const data = { event, graph_name: this.#graph, ...(error !== undefined && { error }) };
    this.#push("lifecycle", [], data);
  }

  #ask(namespace: string[], interrupts: readonly Interrupt[]): void {
    for (const { id = "", value } of interrupts) {
      if (this.#asked.has(id)) continue;
      this.#asked.add(id);
      this.#push("input.requested", namespace, { interrupt_id: id, payload: value as unknown });
    }
  }

  #piece(piece: StreamPiece): void {
    const held = this.#held;
    this.#held = undefined;
    if (held) this.#take(held);
    if (piece.mode === "values") this.#held = piece;
    else this.#take(piece);
  }

  /** A checkpoint is announced before its values. LangGraph does so itself, or streams whole ones after them. */
  #announce(checkpoint: StreamPiece): void {
    const held = this.#held;
    this.#held = undefined;
    const isPair = held?.namespace.join("|") === checkpoint.namespace.join("|");
    if (held && !isPair) this.#take(held);
    this.#take(checkpoint);
    if (held && isPair) this.#take(held);
  }

  #take({ namespace, mode, payload }: StreamPiece): void {
    // A chunk with a name becomes a channel of that name, and a sub-agent's name is none.
    if (mode === "custom" && (isSubagentEvent(payload) || isPlanChangeEvent(payload))) {
      this.#push("custom", namespace, { payload });
      return;
    }
    for (const event of convertToProtocolEvent({ namespace, mode, payload, seq: 0 })) {
      this.#lifecycle.process(event);
      this.#convert(event);
    }
  }

  #convert({ method, params }: ProtocolEvent): void {
    const { namespace, data, node } = params;
    if (method === "values") {
      const { __interrupt__: asked, ...values } = (data ?? {}) as { __interrupt__?: Interrupt[] };
      if (asked) this.#ask(namespace, asked);
      if (Object.keys(values).length > 0) this.#push(method, namespace, values, node);
    } else if (method === "updates") {
      const { node: from, values } = data as { node?: string; values: Record<string, unknown> };
      if (from === "__interrupt__") this.#ask(namespace, Object.values(values) as Interrupt[]);
      else this.#push(method, namespace, values, from);
    } else {
      this.#push(method, namespace, data, node);
    }
  }

  #push(method: string, namespace: string[], data: unknown, node?: string): void {
    const params = { namespace, timestamp: this.#at, ...(node !== undefined && { node }), data };
    this.#log.push({ method, params });
  }
}

/** The announced fields of a checkpoint. */
function envelopeOf(payload: unknown): object {
  const { config, parentConfig, metadata } = payload as {
    config?: RunnableConfig;
    parentConfig?: RunnableConfig;
    metadata?: { step?: number; source?: string };
  };
  const parent: unknown = parentConfig?.configurable?.["checkpoint_id"];
  return {
    id: config?.configurable?.["checkpoint_id"] as unknown,
    ...(parent !== undefined && { parent_id: parent }),
    step: metadata?.step,
    source: metadata?.source,
  };
}
