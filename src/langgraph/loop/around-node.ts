import { ToolMessage } from "@langchain/core/messages";
import { Runnable, RunnableSequence, type RunnableConfig } from "@langchain/core/runnables";
import { Command } from "@langchain/langgraph";
import { showResult } from "../shown-result.ts";

/** The used part of a compiled graph's node. */
export interface RunningNode {
  bound: Runnable;
  getNode(): Runnable | undefined;
}

/** Work around each call of a node. */
export interface Around {
  /** Adds metadata for the listeners of everything that the node runs. */
  place: (config: RunnableConfig, input: unknown) => RunnableConfig;
  /** Gives way to other work; undefined if there is nothing to wait for. */
  yield: (input: unknown) => Promise<void> | undefined;
}

/** Wraps each call of a node, and streams the tool results that it returns in commands. */
export function wrapNode(node: RunningNode, around?: Around): void {
  const sequence = node.getNode();
  if (!(sequence instanceof RunnableSequence) || sequence.steps[0] !== node.bound) return;
  node.bound = new AroundNode(node.bound, around);
}

class AroundNode extends Runnable {
  override lc_namespace = ["holdfast", "loop"];
  /** LangGraph looks for graphs within a node here. */
  readonly steps: Runnable[];
  readonly #around: Around | undefined;

  constructor(node: Runnable, around: Around | undefined) {
    super();
    this.steps = [node];
    this.#around = around;
  }

  override async invoke(input: unknown, config: RunnableConfig = {}): Promise<unknown> {
    // No `await` without a promise: it would change the order of nodes that run together.
    const before = this.#around?.yield(input);
    if (before) await before;
    const hasListeners = config.callbacks !== undefined;
    const ownConfig = (hasListeners && this.#around?.place(config, input)) || config;
    const result: unknown = await this.steps[0]!.invoke(input, ownConfig);
    if (hasListeners) for (const message of commandResults(result)) showResult(message, ownConfig);
    const after = this.#around?.yield(input);
    if (after) await after;
    return result;
  }
}

/** The tool results in the commands of a node's output. */
function commandResults(output: unknown): ToolMessage[] {
  const commands = [output].flat().filter((one) => one instanceof Command);
  return commands.flatMap(({ update }) => {
    const { messages } = (Array.isArray(update) ? Object.fromEntries(update) : update) as {
      messages?: unknown;
    };
    return [messages ?? []].flat().filter((message) => ToolMessage.isInstance(message));
  });
}
