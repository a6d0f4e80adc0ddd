import type { Interrupt } from "@langchain/langgraph";
import { isCheckpointEnvelope } from "@langchain/langgraph/stream";
import type { StreamTap } from "../../run/index.ts";
import type { Chunk, Run } from "../hosted-run.ts";
import { streamModes } from "../request/stream-modes.ts";
import type { Sink } from "./event-log.ts";
import { ThreadProtocol, type ThreadEvent } from "./thread-protocol.ts";
import { TracedEvents } from "./traced-events.ts";

export interface FeedSinks {
  /** Gets all that LangGraph streams. */
  chunks: Sink<Chunk>;
  protocol: Sink<ThreadEvent>;
}

/** Tells readers of LangGraph's two protocols of a run. */
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
        // A model's words in the newer protocol, at the price of the older one's: each callback is called at every node.
        ...(modes.includes("messages") ? [protocol.callback] : []),
        ...(request.isTraced
          ? [new TracedEvents((payload) => chunks.push({ namespace: [], mode: "events", payload }))]
          : []),
      ],
      onChunk: (given, mode, payload) => {
        // Each chunk has one of its own, and most are of the same place as the one before.
        if (!isSame(given, namespace)) namespace = given;
        const piece = { namespace, mode, payload };
        if (mode !== "checkpoints") chunks.push(piece);
        // The older protocol knows whole ones alone; where they are not streamed they are announced.
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

/** The fields that are read here of LangGraph's stream mode `checkpoints`. */
interface CheckpointChunk {
  config: StreamedConfig;
  parentConfig?: StreamedConfig;
}

/**
 * A whole checkpoint as clients may see it. LangGraph streams the config that it is run with: in it are the lease that
 * the run writes by, which is as good as the thread itself, and whoever listens to callbacks.
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
  const own = Object.entries(configurable).filter(([key]) => !key.startsWith("__"));
  return { ...rest, configurable: Object.fromEntries(own) };
}
