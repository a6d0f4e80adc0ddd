import { isBaseMessage } from "@langchain/core/messages";
import { Runnable, type RunnableConfig } from "@langchain/core/runnables";
import { isCommand } from "@langchain/langgraph";
import { idOf } from "../messages.ts";

/** The used part of a compiled graph's node. */
export interface WritingNode {
  writers: Runnable[];
  getWriters(): Runnable[];
}

/**
 * Replaces the writers of a node's result by plain function calls. LangGraph runs each writer and its mapper as a
 * runnable that no one can listen to: it merges a configuration and builds a tracing tree to throw away, nine times in
 * a turn.
 */
export function lightenWriters(node: WritingNode, { conditions, givesIds }: Written): void {
  // LangGraph joins neighbouring writers again for each task; here it happens once.
  const writers = node.getWriters();
  const branches = writers.filter(({ name }) => name === "<branch_run>");
  // Every node has one more before its own branches, for commands with a `goto`.
  const control = branches.length === conditions + 1 ? branches[0] : undefined;
  node.writers = writers.map((writer) => {
    for (const write of (writer as Writer).writes ?? []) {
      if (write.mapper && isUntraced(write.mapper)) {
        write.mapper = givesIds ? new NamedMessages(write.mapper) : new Direct(write.mapper);
      }
    }
    if (writer === control) return new Control(writer as Callable);
    return isUntraced(writer) ? new Direct(writer) : writer;
  });
}

interface Written {
  /** The number of the node's own conditional edges. */
  conditions: number;
  /** Whether the graph gives messages their ids. */
  givesIds: boolean;
}

interface Writer extends Runnable {
  writes?: { mapper?: Runnable }[];
}

/** LangGraph's runnable around a function. */
interface Callable extends Runnable {
  func: (input: unknown, config?: RunnableConfig) => Promise<unknown>;
  /** Whether it reports to callbacks. */
  trace?: boolean;
}

function isUntraced(runnable: Runnable): runnable is Callable {
  return "func" in runnable && (runnable as Callable).trace === false;
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

/**
 * Maps a node's result to writes per channel. Messages get their ids here and not in the reducer: a task's messages are
 * saved before and after the reducer, and would be stored twice in full under different ids.
 */
class NamedMessages extends Direct {
  override async invoke(result: unknown, config?: RunnableConfig): Promise<unknown> {
    const updates = (await super.invoke(result, config)) as [channel: string, value: unknown][] | null;
    for (const [channel, value] of updates ?? []) {
      if (channel !== "messages") continue;
      for (const message of Array.isArray(value) ? (value as unknown[]) : [value]) {
        if (isBaseMessage(message)) idOf(message);
      }
    }
    return updates;
  }
}

/** The branch for commands. Most results are plain updates, which it need not see. */
class Control extends Direct {
  override async invoke(result: unknown, config?: RunnableConfig): Promise<unknown> {
    const parts: unknown[] = Array.isArray(result) ? result : [result];
    return parts.every(isUpdate) ? result : super.invoke(result, config);
  }
}

/** Whether a part of a node's result only updates the state. */
function isUpdate(part: unknown): boolean {
  if (isCommand(part)) return part.graph === undefined && Array.isArray(part.goto) && part.goto.length === 0;
  return typeof part !== "object" || part === null || !("lg_name" in part);
}
