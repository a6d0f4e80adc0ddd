import { Runnable, type RunnableConfig } from "@langchain/core/runnables";

/** A node of a compiled graph, as far as it is used here. */
export interface WritingNode {
  writers: Runnable[];
  getWriters(): Runnable[];
}

/**
 * Lets what writes a node's result to the state be called as the functions it is. LangGraph calls each of them, and
 * what it maps with, as a runnable that nobody can listen to: with a configuration merged anew and a tracing tree that
 * is thrown away, seven times in a turn.
 */
export function lightenWriters(node: WritingNode): void {
  // LangGraph puts neighbours together anew for each task; here it is done once.
  node.writers = node.getWriters().map((writer) => {
    for (const write of (writer as Writer).writes ?? [])
      if (write.mapper) write.mapper = direct(write.mapper);
    return direct(writer);
  });
}

interface Writer extends Runnable {
  writes?: { mapper?: Runnable }[];
}

/** LangGraph's runnable around a function. */
interface Callable extends Runnable {
  func: (input: unknown, config?: RunnableConfig) => Promise<unknown>;
  /** Whether callbacks are told of it. */
  trace?: boolean;
}

function direct(runnable: Runnable): Runnable {
  const isUntraced = "func" in runnable && (runnable as Callable).trace === false;
  return isUntraced ? new Direct(runnable as Callable) : runnable;
}

class Direct extends Runnable {
  override lc_namespace = ["holdfast", "loop"];
  readonly #func: Callable["func"];

  constructor({ func, name }: Callable) {
    super();
    this.name = name!;
    this.#func = func;
  }

  override invoke(input: unknown, config?: RunnableConfig): Promise<unknown> {
    return this.#func(input, config);
  }
}
