/** A chunk of a graph's stream as LangGraph hands it on: where it comes from, its mode, and what it says. */
type Chunk = [namespace: string[], mode: string, payload: unknown];

/** The stream interface that LangGraph needs for a nested run. */
export interface ChunkStream {
  modes: Set<string>;
  push(chunk: Chunk): void;
  /** Whether nobody reads it any more: what is pushed then is gone. */
  readonly closed?: boolean;
}

/** The key of a task's configurable under which a nested run finds the stream of its caller. */
export const STREAM_KEY = "__pregel_stream";

/** Passes on what a sub-agent streams, and keeps its newest state: all that there is of one that is stopped half way. */
export class ChildStream implements ChunkStream {
  readonly modes: Set<string>;
  latest: object | undefined;
  #depth = Infinity;
  #caller: ChunkStream | undefined;
  /** Chunks after the caller's invocation had ended, for the one that goes on. */
  #unheard: Chunk[] = [];

  constructor(caller: unknown) {
    this.#caller = caller as ChunkStream | undefined;
    this.modes = new Set([...(this.#caller?.modes ?? []), VALUES]);
  }

  /** Turns to another invocation of the caller, which goes on where the last one stopped. */
  turnTo(caller: unknown): void {
    this.#caller = caller as ChunkStream | undefined;
    for (const mode of this.#caller?.modes ?? []) this.modes.add(mode);
    for (const chunk of this.#unheard.splice(0)) this.#pass(chunk);
  }

  get closed(): boolean {
    return this.#caller?.closed ?? false;
  }

  push(chunk: Chunk): void {
    const [namespace, mode, payload] = chunk;
    // Its own sub-agents are further down.
    if (mode === VALUES && namespace.length <= this.#depth) {
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
