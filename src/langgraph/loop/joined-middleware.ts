import type { AIMessage } from "@langchain/core/messages";
import { interopParse } from "@langchain/core/utils/types";
import { isCommand } from "@langchain/langgraph";
import type { AnyAgentMiddleware } from "langchain";
import { splitMiddleware } from "./split-middleware.ts";

type Wrap = NonNullable<AnyAgentMiddleware["wrapModelCall"]>;

/**
 * The same middleware as it costs LangChain least: of those that are ours state and model calls are apart, and what
 * wraps model calls is one middleware for all neighbours, as LangChain looks through tools, system message and answer
 * between any two of them. Ours leave the tools alone. One that answers with commands stays by itself: LangChain
 * collects them.
 */
export function joinMiddleware(
  middleware: readonly AnyAgentMiddleware[],
  isOurs: (one: AnyAgentMiddleware) => boolean,
): AnyAgentMiddleware[] {
  const list: AnyAgentMiddleware[] = [];
  let neighbours: AnyAgentMiddleware[] = [];
  const join = (): void => {
    if (neighbours.length > 0) list.push(joined(neighbours));
    neighbours = [];
  };
  for (const whole of middleware) {
    for (const one of isOurs(whole) ? splitMiddleware(whole) : [whole]) {
      const isJoined = isOurs(whole) && isWrapper(one);
      if (isJoined) neighbours.push(one);
      else if (one.wrapModelCall) join();
      list.push(isJoined ? withoutWrapper(one) : one);
    }
  }
  join();
  return list;
}

function isWrapper({ name, wrapModelCall, stateSchema }: AnyAgentMiddleware): boolean {
  return wrapModelCall !== undefined && !stateSchema && !APART.includes(name);
}

/** Middleware hooks that need their own node: they answer with commands, or change the tools. */
const APART = [
  "InstructionsMiddleware",
  "McpMiddleware",
  "PlanMiddleware",
  "SummarizationMiddleware",
  "ThreadDataMiddleware",
  "TitleMiddleware",
];

function withoutWrapper(middleware: AnyAgentMiddleware): AnyAgentMiddleware {
  const { wrapModelCall: _, ...rest } = middleware;
  return rest;
}

function joined(members: readonly AnyAgentMiddleware[]): AnyAgentMiddleware {
  const wraps = members.map((one) => wrapWithContext(one));
  const wrapModelCall: Wrap = (request, handler) => {
    // What one of them sees of the state and the run is not for the next.
    const { state, runtime } = request;
    const call = async (at: number, made: Parameters<typeof handler>[0]): Promise<AIMessage> => {
      const wrap = wraps[at];
      if (!wrap) return handler(made);
      const seen = { ...made, state, runtime } as typeof request;
      const answer = await wrap(seen, (next) => call(at + 1, next));
      if (isCommand(answer)) throw new Error(`${members[at]!.name} answers with a command.`);
      return answer;
    };
    return call(0, request);
  };
  const name = `${members.map((one) => one.name).join("+")}.calls`;
  return { name, wrapModelCall } as AnyAgentMiddleware;
}

/** Most runs have no context, and what a schema makes of none is always the same. */
function wrapWithContext({ wrapModelCall, contextSchema }: AnyAgentMiddleware): Wrap {
  if (!contextSchema) return wrapModelCall!;
  const none: unknown = interopParse(contextSchema as never, {});
  return (request, handler) => {
    const { context: given } = request.runtime;
    const context = given ? interopParse(contextSchema as never, given) : none;
    return wrapModelCall!({ ...request, runtime: { ...request.runtime, context } }, handler);
  };
}
