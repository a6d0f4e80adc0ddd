import { anthropicPromptCachingMiddleware, createMiddleware } from "langchain";
import { settled } from "../../models/secrets/client-fields.ts";

type Handler = (request: object) => unknown;
type Caching = (options: object) => {
  contextSchema: undefined;
  wrapModelCall: (request: object, handler: Handler) => unknown;
};

/**
 * LangChain's caching breakpoints: set for Anthropic's models, also for one that is chosen when it is first used,
 * and left out for others.
 */
export function promptCachingMiddleware() {
  const create = anthropicPromptCachingMiddleware as unknown as Caching;
  const inner = create({ unsupportedModelBehavior: "ignore" });
  return createMiddleware({
    name: "PromptCachingMiddleware",
    contextSchema: inner.contextSchema,
    wrapModelCall: async (request, handler) => {
      const { model, runtime } = request;
      const seen = {
        ...request,
        model: await settled(model as object),
        runtime: { ...runtime, context: runtime.context ?? {} },
      };
      const pass: Handler = ({ modelSettings }: { modelSettings?: Record<string, unknown> }) =>
        handler({ ...request, ...(modelSettings && { modelSettings }) });
      return inner.wrapModelCall(seen, pass) as ReturnType<typeof handler>;
    },
  });
}
