import { isInterrupted } from "@langchain/langgraph";
import type { Chunk, ChunkStream } from "../langgraph/index.ts";

/** Passes on what a sub-agent streams, and keeps its newest state: all that there is of one that is stopped half way. */
export class ChildStream implements ChunkStream {
  readonly modes: Set<string>;
  latest: object | undefined;
  #depth = Infinity;
  #caller: ChunkStream | undefined;
  /** Chunks after the caller's invocation had ended, for the one that goes on. */
  #unheard: Chunk[] = [];

  constructor(caller: ChunkStream | undefined) {
    this.#caller = caller;
    this.modes = new Set([...(this.#caller?.modes ?? []), VALUES]);
  }

  /** Turns to another invocation of the caller, which goes on where the last one stopped. */
  turnTo(caller: ChunkStream | undefined): void {
    this.#caller = caller;
    for (const mode of this.#caller?.modes ?? []) this.modes.add(mode);
    for (const chunk of this.#unheard.splice(0)) this.#pass(chunk);
  }

  get closed(): boolean {
    return this.#caller?.closed ?? false;
  }

  push(chunk: Chunk): void {
    const [namespace, mode, payload] = chunk;
    // Its own sub-agents are further down. What it asks is no state.
    if (mode === VALUES && namespace.length <= this.#depth && !isInterrupted(payload)) {
      this.#depth = namespace.length;
      this.latest = payload as object;
    }
    if (mode !== VALUES || this.#caller?.modes.has(VALUES)) this.#pass(chunk);
  }

  #pass(chunk: Chunk): void {
    if (this.closed) this.#unheard.push(chunk);
    else this.#caller?.push(chunk);
  }
}

const VALUES = "values";
