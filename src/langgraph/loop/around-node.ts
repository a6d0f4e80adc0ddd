import { ToolMessage } from "@langchain/core/messages";
import { Runnable, RunnableSequence, type RunnableConfig } from "@langchain/core/runnables";
import { Command } from "@langchain/langgraph";
import { showResult } from "../shown-result.ts";

/** A node of a compiled graph, as far as it is used here. */
export interface RunningNode {
  bound: Runnable;
  getNode(): Runnable | undefined;
}

/** Work around each call of a node. */
export interface Around {
  /** Adds to the metadata of everything that the node runs, for whoever listens. */
  place: (config: RunnableConfig, input: unknown) => RunnableConfig;
  /** Lets others go first, where there is something to wait for. */
  yield: (input: unknown) => Promise<void> | undefined;
}

/** Puts work around each call of a node, and shows the results of calls that it returns in commands. */
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
    // Not waited for in vain: that would change who of several that run together is first.
    const before = this.#around?.yield(input);
    if (before) await before;
    const isHeard = config.callbacks !== undefined;
    const placed = (isHeard && this.#around?.place(config, input)) || config;
    const result: unknown = await this.steps[0]!.invoke(input, placed);
    if (isHeard) for (const message of commandResults(result)) showResult(message, placed);
    const after = this.#around?.yield(input);
    if (after) await after;
    return result;
  }
}

/** Results of calls that come in commands. */
function commandResults(output: unknown): ToolMessage[] {
  const commands = [output].flat().filter((one) => one instanceof Command);
  return commands.flatMap(({ update }) => {
    const { messages } = (Array.isArray(update) ? Object.fromEntries(update) : update) as {
      messages?: unknown;
    };
    return [messages ?? []].flat().filter((message) => ToolMessage.isInstance(message));
  });
}
