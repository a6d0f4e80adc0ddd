import { createMiddleware, type AnyAgentMiddleware } from "langchain";
import { taskInputOf } from "../task.ts";

/**
 * A middleware with state that wraps model calls, as two: one with the fields, one that wraps. LangChain would make and
 * compile a schema of the fields in every model call; the second reads the state as it is. For middleware of our own:
 * it sees the fields of others too, and no defaults.
 */
export function splitMiddleware(middleware: AnyAgentMiddleware): AnyAgentMiddleware[] {
  const { name, stateSchema, wrapModelCall, ...rest } = middleware;
  const { beforeAgent, beforeModel, afterModel, afterAgent } = rest;
  // A hook is given the fields of its own middleware only.
  const hasHook = [beforeAgent, beforeModel, afterModel, afterAgent].some(Boolean);
  if (!stateSchema || !wrapModelCall || hasHook) return [middleware];
  return [
    createMiddleware({ name: `${name}.state`, stateSchema }) as AnyAgentMiddleware,
    {
      ...rest,
      name,
      wrapModelCall: (request, handler) => {
        const state = { ...taskInputOf(request.runtime.configurable), messages: request.state.messages };
        return wrapModelCall({ ...request, state }, handler);
      },
    },
  ];
}
