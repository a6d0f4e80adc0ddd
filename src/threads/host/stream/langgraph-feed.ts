import type { Interrupt } from "@langchain/langgraph";
import { isCheckpointEnvelope } from "@langchain/langgraph/stream";
import type { StreamTap } from "../../run/index.ts";
import type { Chunk, Run } from "../hosted-run.ts";
import { streamModes } from "../request/stream-modes.ts";
import type { Sink } from "./event-log.ts";
import { ThreadProtocol, type ThreadEvent } from "./thread-protocol.ts";
import { TracedEvents } from "./traced-events.ts";

export interface FeedSinks {
  chunks: Sink<Chunk>;
  protocol: Sink<ThreadEvent>;
}

/** Feeds a run to the readers of LangGraph's two protocols. */
export class LangGraphFeed {
  readonly tap: Omit<StreamTap, "options">;
  readonly #run: Run;
  readonly #chunks: Sink<Chunk>;
  readonly #protocol: ThreadProtocol;

  constructor(run: Run, { chunks, protocol: log }: FeedSinks) {
    const { request } = run;
    const protocol = new ThreadProtocol(log, request.graph);
    [this.#run, this.#chunks, this.#protocol] = [run, chunks, protocol];
    const modes = streamModes(request);
    let namespace: string[] = [];
    this.tap = {
      modes,
      callbacks: [
        // Only with the older protocol's messages: each callback costs something at every node.
        ...(modes.includes("messages") ? [protocol.callback] : []),
        ...(request.isTraced
          ? [new TracedEvents((payload) => chunks.push({ namespace: [], mode: "events", payload }))]
          : []),
      ],
      onChunk: (chunkNamespace, mode, payload) => {
        // Equal arrays are shared, to save memory: most chunks have the namespace of the one before.
        if (!isSame(chunkNamespace, namespace)) namespace = chunkNamespace;
        const piece = { namespace, mode, payload };
        if (mode !== "checkpoints") chunks.push(piece);
        // The older protocol has whole checkpoints only, and no envelopes.
        else if (!isCheckpointEnvelope(payload)) {
          chunks.push({ namespace, mode, payload: publicCheckpoint(payload as CheckpointChunk) });
        }
        protocol.chunk(piece);
      },
    };
  }

  begin(): void {
    const { id, thread, record } = this.#run;
    this.#chunks.push({
      event: "metadata",
      data: { run_id: id, thread_id: thread, attempt: record.attempt },
    });
    this.#protocol.root("running");
  }

  ask(interrupts: readonly Interrupt[]): void {
    this.#protocol.ask([], interrupts);
  }

  end(): void {
    const { error, interrupts = [] } = this.#run.result ?? {};
    if (error) this.#chunks.push({ event: "error", data: { error: error.name, message: error.message } });
    const isWaiting = this.#run.record.status === "interrupted" || interrupts.length > 0;
    this.#protocol.root(error ? "failed" : isWaiting ? "interrupted" : "completed", error?.message);
  }
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((part, at) => part === other[at]);
}

interface StreamedConfig {
  callbacks?: unknown;
  configurable?: Record<string, unknown>;
}

/** The fields of LangGraph's stream mode `checkpoints` that are read here. */
interface CheckpointChunk {
  config: StreamedConfig;
  parentConfig?: StreamedConfig;
}

/**
 * A whole checkpoint as clients may see it. LangGraph streams the config of the run, with its callbacks and its lease,
 * which would let a client write to the thread.
 */
function publicCheckpoint(chunk: CheckpointChunk): CheckpointChunk {
  const { config, parentConfig } = chunk;
  return {
    ...chunk,
    config: publicConfig(config),
    ...(parentConfig && { parentConfig: publicConfig(parentConfig) }),
  };
}

function publicConfig({ callbacks: _callbacks, configurable = {}, ...rest }: StreamedConfig): StreamedConfig {
  const entries = Object.entries(configurable).filter(([key]) => !key.startsWith("__"));
  return { ...rest, configurable: Object.fromEntries(entries) };
}
