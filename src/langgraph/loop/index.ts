import { AIMessage, type BaseMessage, type ToolMessage } from "@langchain/core/messages";
import { Runnable, RunnableLambda, type RunnableConfig } from "@langchain/core/runnables";
import { Send } from "@langchain/langgraph";
import { isMessageList } from "../messages.ts";
import { wrapNode, type Around, type RunningNode } from "./around-node.ts";
import { lightenWriters, type WritingNode } from "./light-writers.ts";
import { yieldToEventLoop } from "./yield-to-event-loop.ts";

export { yieldToEventLoop } from "./yield-to-event-loop.ts";

/** The used part of LangGraph's compiled graph. */
interface CompiledGraph {
  builder: { branches: Record<string, Record<string, { path: Runnable }>> };
  nodes: Record<string, WritingNode & RunningNode>;
  channels: Record<string, unknown>;
}

/** The used part of an agent. */
export interface LoopingAgent {
  graph: CompiledGraph;
}

/** Makes the loop of an agent faster, in place. `place` adds metadata to everything that a node runs. */
export function lightenLoop<Agent extends LoopingAgent>(agent: Agent, place: Around["place"]): Agent {
  const { tools: _, ...others } = agent.graph.builder.branches;
  for (const branch of Object.values(others).flatMap((all) => Object.values(all))) {
    branch.path = new LightRouter(branch.path);
  }
  lighten(agent.graph, { place, yield: (input) => (isSent(input) ? undefined : yieldToEventLoop()) });
  return agent;
}

const lightened = new WeakSet<object>();

/** Makes the writers of a graph's nodes faster, in place. Their effects and events stay the same. */
export function lighten({ builder, nodes, channels }: CompiledGraph, around?: Around): void {
  const givesIds = isMessageList(channels["messages"]);
  for (const [name, node] of Object.entries(nodes)) {
    if (lightened.has(node)) continue;
    lightened.add(node);
    lightenWriters(node, { conditions: Object.keys(builder.branches[name] ?? {}).length, givesIds });
    wrapNode(node, around);
  }
}

/** Whether it is a graph itself, and not a wrapper around one. */
export function isPregel(graph: object): boolean {
  return "lg_is_pregel" in graph && graph.lg_is_pregel === true;
}

/** Whether it is a graph that was built from nodes and edges. */
export function isCompiled(graph: object): graph is CompiledGraph {
  return "builder" in graph && "nodes" in graph && "channels" in graph;
}

interface RoutedState {
  messages: BaseMessage[];
  jumpTo?: unknown;
}

/** Calls LangChain's router with only the state that it needs. */
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
      // LangChain skips calls that have a result; with reused ids it would take the results of earlier turns for theirs.
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

  /** Calls the router; directly as a function if there are no listeners. */
  async #ask(state: RoutedState, config?: RunnableConfig): Promise<unknown> {
    const router = this.#router;
    return isLambda(router) && !config?.callbacks ? router.func(state) : router.invoke(state, config);
  }
}

/** Whether a runnable is one of LangChain's routers, which take only the state and return synchronously. */
function isLambda(runnable: Runnable): runnable is Runnable & { func: (state: RoutedState) => unknown } {
  return runnable instanceof RunnableLambda;
}

/** The last answer of the model, and the messages after it. */
function turnOf(messages: readonly BaseMessage[]): BaseMessage[] {
  const at = messages.findLastIndex((message) => AIMessage.isInstance(message));
  return messages.slice(Math.max(0, at));
}

/** Whether a call of the turn reuses the id of an earlier call with a result. Some models reuse ids. */
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

/** Whether the turn has a single call that has not run. */
function isSingleCall([answer, ...rest]: readonly BaseMessage[]): boolean {
  return AIMessage.isInstance(answer) && answer.tool_calls?.length === 1 && rest.length === 0;
}

/** Replaces the messages of a routed node by all messages. */
function withMessages(route: unknown, messages: BaseMessage[]): unknown {
  return route instanceof Send ? new Send(route.node, { ...(route.args as object), messages }) : route;
}

function isToolCall(route: unknown): route is Send {
  return route instanceof Send && isSent(route.args);
}

/** Whether a node's input is a single tool call. LangChain sends each call of a turn on its own. */
function isSent(input: unknown): boolean {
  return typeof input === "object" && input !== null && "lg_tool_call" in input;
}
