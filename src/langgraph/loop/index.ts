import { AIMessage, type BaseMessage, type ToolMessage } from "@langchain/core/messages";
import { Runnable, RunnableLambda, type RunnableConfig } from "@langchain/core/runnables";
import { Send } from "@langchain/langgraph";
import { isMessageList } from "../messages.ts";
import { wrapNode, type Around, type RunningNode } from "./around-node.ts";
import { lightenWriters, type WritingNode } from "./light-writers.ts";
import { yieldToEventLoop } from "./yield-to-event-loop.ts";

export { yieldToEventLoop } from "./yield-to-event-loop.ts";

/** A compiled graph of LangGraph's, as far as it is used here. */
interface CompiledGraph {
  builder: { branches: Record<string, Record<string, { path: Runnable }>> };
  nodes: Record<string, WritingNode & RunningNode>;
  channels: Record<string, unknown>;
}

/** The parts of an agent that are used here. */
export interface LoopingAgent {
  graph: CompiledGraph;
}

/** Gives an agent a lighter loop: see `lightLoop`. `place` adds to the metadata of everything that a node runs. */
export function lightenLoop<Agent extends LoopingAgent>(agent: Agent, place: Around["place"]): Agent {
  const { branches } = agent.graph.builder;
  const { tools: _, ...others } = branches;
  for (const branch of Object.values(others).flatMap((all) => Object.values(all))) {
    branch.path = new LightRouter(branch.path);
  }
  lighten(agent.graph, { place, yield: (input) => (isSent(input) ? undefined : yieldToEventLoop()) });
  return agent;
}

const lightened = new WeakSet<object>();

/**
 * Lets what writes the results of any graph's nodes to the state run without what LangGraph puts around it. What it
 * does, and what whoever listens is told, stays the same. Changes the graph.
 */
export function lighten({ builder, nodes, channels }: CompiledGraph, around?: Around): void {
  const givesIds = isMessageList(channels["messages"]);
  for (const [name, node] of Object.entries(nodes)) {
    if (lightened.has(node)) continue;
    lightened.add(node);
    lightenWriters(node, { conditions: Object.keys(builder.branches[name] ?? {}).length, givesIds });
    wrapNode(node, around);
  }
}

/** Tells a graph from what is wrapped around one. */
export function isPregel(given: object): boolean {
  return "lg_is_pregel" in given && given.lg_is_pregel === true;
}

/** Whether it is a graph that was made by adding nodes and edges. */
export function isCompiled(graph: object): graph is CompiledGraph {
  return "builder" in graph && "nodes" in graph && "channels" in graph;
}

interface RoutedState {
  messages: BaseMessage[];
  jumpTo?: unknown;
}

/** Asks LangChain's router, with as little state as it needs for its answer. */
class LightRouter extends Runnable<RoutedState> {
  override lc_namespace = ["holdfast", "loop"];
  readonly #router: Runnable;

  constructor(router: Runnable) {
    super();
    this.#router = router;
  }

  override async invoke(state: RoutedState, config?: RunnableConfig): Promise<unknown> {
    const { messages, jumpTo } = state;
    const turn = turnOf(messages);
    if (isAnsweredBefore(turn, messages)) {
      // LangChain leaves out calls of the turn that have a result, and takes those of earlier turns for theirs.
      const route: unknown = await this.#ask({ ...state, messages: turn }, config);
      return Array.isArray(route)
        ? route.map((to) => withMessages(to, messages))
        : withMessages(route, messages);
    }
    if (isSingleCall(turn)) {
      const route: unknown = await this.#ask({ messages: turn, jumpTo }, config);
      if (typeof route === "string") return route;
      if (Array.isArray(route) && route.length === 1 && isToolCall(route[0])) return route[0].node;
    }
    return this.#ask(state, config);
  }

  /** A function is called as such where nobody listens to what runs. */
  async #ask(state: RoutedState, config?: RunnableConfig): Promise<unknown> {
    const router = this.#router;
    return isLambda(router) && !config?.callbacks ? router.func(state) : router.invoke(state, config);
  }
}

/** Returns whether a runnable is one of LangChain's routers, which take the state alone and return at once. */
function isLambda(runnable: Runnable): runnable is Runnable & { func: (state: RoutedState) => unknown } {
  return runnable instanceof RunnableLambda;
}

/** The last answer of the model, and what came after it. */
function turnOf(messages: readonly BaseMessage[]): BaseMessage[] {
  const at = messages.findLastIndex((message) => AIMessage.isInstance(message));
  return messages.slice(Math.max(0, at));
}

/** Some models use their call ids again: whether one of the turn was that of a call before. */
function isAnsweredBefore(
  [answer, ...rest]: readonly BaseMessage[],
  messages: readonly BaseMessage[],
): boolean {
  if (!AIMessage.isInstance(answer) || !answer.tool_calls?.length) return false;
  const ids = new Set(answer.tool_calls.map(({ id }) => id));
  const before = messages.length - rest.length - 1;
  return messages.some(
    (message, at) => at < before && message.type === "tool" && ids.has((message as ToolMessage).tool_call_id),
  );
}

/** Whether the tools would find just the call of the last message to run. */
function isSingleCall([answer, ...rest]: readonly BaseMessage[]): boolean {
  return AIMessage.isInstance(answer) && answer.tool_calls?.length === 1 && rest.length === 0;
}

/** Gives a routed node that gets a part of the messages all of them. */
function withMessages(route: unknown, messages: BaseMessage[]): unknown {
  return route instanceof Send ? new Send(route.node, { ...(route.args as object), messages }) : route;
}

function isToolCall(route: unknown): route is Send {
  return route instanceof Send && isSent(route.args);
}

/** Whether a node is given a call of its own, beside others of the same turn. */
function isSent(input: unknown): boolean {
  return typeof input === "object" && input !== null && "lg_tool_call" in input;
}
