import { isBaseMessage } from "@langchain/core/messages";
import { Runnable, type RunnableConfig } from "@langchain/core/runnables";
import { isCommand } from "@langchain/langgraph";
import { idOf } from "../messages.ts";

/** A node of a compiled graph, as far as it is used here. */
export interface WritingNode {
  writers: Runnable[];
  getWriters(): Runnable[];
}

/**
 * Lets what writes a node's result to the state be called as the functions it is. LangGraph calls each of them, and
 * what it maps with, as a runnable that nobody can listen to: with a configuration merged anew and a tracing tree that
 * is thrown away, nine times in a turn.
 */
export function lightenWriters(node: WritingNode, { conditions, givesIds }: Written): void {
  // LangGraph puts neighbours together anew for each task; here it is done once.
  const writers = node.getWriters();
  const branches = writers.filter(({ name }) => name === "<branch_run>");
  // Every node has one in front of its own, for commands that say where to go.
  const control = branches.length === conditions + 1 ? branches[0] : undefined;
  node.writers = writers.map((writer) => {
    for (const write of (writer as Writer).writes ?? []) {
      if (write.mapper && isUntraced(write.mapper)) {
        write.mapper = givesIds ? new NamedMessages(write.mapper) : new Direct(write.mapper);
      }
    }
    return writer === control ? new Control(writer as Callable) : direct(writer);
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
  /** Whether callbacks are told of it. */
  trace?: boolean;
}

function direct(runnable: Runnable): Runnable {
  return isUntraced(runnable) ? new Direct(runnable) : runnable;
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
 * A node's writes to each channel. Messages get their ids here and not in the reducer: a task's messages are saved
 * before and after it, and would be stored twice in full under different ids.
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

/** The edge that commands take: of most results there is nothing to ask it. */
class Control extends Direct {
  override async invoke(result: unknown, config?: RunnableConfig): Promise<unknown> {
    const parts: unknown[] = Array.isArray(result) ? result : [result];
    return parts.every(isUpdate) ? result : super.invoke(result, config);
  }
}

/** Whether a part of a node's result goes to the state and nowhere else. */
function isUpdate(part: unknown): boolean {
  if (isCommand(part)) return part.graph === undefined && Array.isArray(part.goto) && part.goto.length === 0;
  return typeof part !== "object" || part === null || !("lg_name" in part);
}
