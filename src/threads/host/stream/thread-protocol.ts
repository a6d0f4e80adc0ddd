import type { RunnableConfig } from "@langchain/core/runnables";
import {
  createLifecycleTransformer,
  type Interrupt,
  type ProtocolEvent,
  type StreamMode,
} from "@langchain/langgraph";
import { convertToProtocolEvent, isCheckpointEnvelope } from "@langchain/langgraph/stream";
import { isPlanChangeEvent } from "../../../middleware/plan/index.ts";
import { isSubagentEvent } from "../../../subagents/index.ts";
import { ContentBlocks } from "./content-blocks.ts";
import type { Sink } from "./event-log.ts";

/** An event of LangGraph's newer protocol. Its clients get it with its number in the log. */
export interface ThreadEvent {
  method: string;
  params: { namespace: string[]; timestamp: number; node?: string; data: unknown };
}

export interface StreamPiece {
  namespace: string[];
  mode: StreamMode;
  payload: unknown;
}

type RootState = "running" | "completed" | "interrupted" | "failed";

/** Writes a run into a thread's log in LangGraph's newer protocol. */
export class ThreadProtocol {
  /** Streams the model's answers. */
  readonly callback = new ContentBlocks((namespace, node, data) =>
    this.#push("messages", namespace, data, node),
  );
  readonly #log: Sink<ThreadEvent>;
  readonly #graph: string;
  /** The ids of reported interrupts. */
  readonly #asked = new Set<string>();
  /** A `values` chunk that waits for its checkpoint. */
  #held: StreamPiece | undefined;
  readonly #lifecycle = createLifecycleTransformer({ emitRootOnRegister: false });

  constructor(log: Sink<ThreadEvent>, graph: string) {
    this.#log = log;
    this.#graph = graph;
    this.#lifecycle.onRegister?.({
      push: (namespace, { method, params }) => this.#push(method, namespace, params.data, params.node),
    });
  }

  /** Reports the state of the run itself. */
  root(event: RootState, error?: string): void {
    if (this.#held) this.#take(this.#held);
    this.#held = undefined;
    if (event !== "running") void this.#lifecycle.finalize?.();
    const data = { event, graph_name: this.#graph, ...(error !== undefined && { error }) };
    this.#push("lifecycle", [], data);
  }

  /** Reports open interrupts, each once. */
  ask(namespace: string[], interrupts: readonly Interrupt[]): void {
    for (const { id = "", value } of interrupts) {
      if (this.#asked.has(id)) continue;
      this.#asked.add(id);
      this.#push("input.requested", namespace, { interrupt_id: id, payload: value as unknown });
    }
  }

  chunk(piece: StreamPiece): void {
    const { namespace, mode, payload } = piece;
    // The callback streams messages in more detail.
    if (mode === "messages") return;
    const isWhole = mode === "checkpoints" && !isCheckpointEnvelope(payload);
    if (isWhole) return this.#announce({ namespace, mode, payload: envelopeOf(payload) });
    const held = this.#held;
    this.#held = undefined;
    if (held) this.#take(held);
    if (mode === "values") this.#held = piece;
    else this.#take(piece);
  }

  /** Announces a checkpoint before its values: LangGraph streams whole checkpoints after them. */
  #announce(checkpoint: StreamPiece): void {
    const held = this.#held;
    this.#held = undefined;
    const isPair = held?.namespace.join("|") === checkpoint.namespace.join("|");
    if (held && !isPair) this.#take(held);
    this.#take(checkpoint);
    if (held && isPair) this.#take(held);
  }

  #take({ namespace, mode, payload }: StreamPiece): void {
    // The conversion takes a chunk's `name` for a channel, and a sub-agent's name is none.
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
      if (asked) this.ask(namespace, asked);
      if (Object.keys(values).length > 0) this.#push(method, namespace, values, node);
    } else if (method === "updates") {
      const { node: from, values } = data as { node?: string; values: Record<string, unknown> };
      if (from === "__interrupt__") this.ask(namespace, Object.values(values) as Interrupt[]);
      else this.#push(method, namespace, values, from);
    } else {
      this.#push(method, namespace, data, node);
    }
  }

  #push(method: string, namespace: string[], data: unknown, node?: string): void {
    const params = { namespace, timestamp: Date.now(), ...(node !== undefined && { node }), data };
    this.#log.push({ method, params });
  }
}

/** The fields of a checkpoint that are announced. */
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
