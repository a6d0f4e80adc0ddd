import { isInterrupted } from "@langchain/langgraph";
import type { Chunk, ChunkStream } from "../langgraph/index.ts";

/** Forwards the chunks of a sub-agent's stream, and keeps its latest state, the only result if it is stopped. */
export class ChildStream implements ChunkStream {
  readonly modes: Set<string>;
  latest: object | undefined;
  #depth = Infinity;
  #caller: ChunkStream | undefined;
  /** Chunks from after the end of the caller's invocation, for its next one. */
  #pending: Chunk[] = [];

  constructor(caller: ChunkStream | undefined) {
    this.#caller = caller;
    this.modes = new Set([...(this.#caller?.modes ?? []), VALUES]);
  }

  /** Switches to the stream of the caller's next invocation, which continues the thread. */
  switchTo(caller: ChunkStream | undefined): void {
    this.#caller = caller;
    for (const mode of this.#caller?.modes ?? []) this.modes.add(mode);
    for (const chunk of this.#pending.splice(0)) this.#forward(chunk);
  }

  get closed(): boolean {
    return this.#caller?.closed ?? false;
  }

  push(chunk: Chunk): void {
    const [namespace, mode, payload] = chunk;
    // Its own sub-agents have longer namespaces. An interrupt is not a state.
    if (mode === VALUES && namespace.length <= this.#depth && !isInterrupted(payload)) {
      this.#depth = namespace.length;
      this.latest = payload as object;
    }
    if (mode !== VALUES || this.#caller?.modes.has(VALUES)) this.#forward(chunk);
  }

  #forward(chunk: Chunk): void {
    if (this.closed) this.#pending.push(chunk);
    else this.#caller?.push(chunk);
  }
}

const VALUES = "values";
