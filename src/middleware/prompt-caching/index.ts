import {
  anthropicPromptCachingMiddleware,
  bedrockPromptCachingMiddleware,
  createMiddleware,
} from "langchain";
import { fieldsOf, settled } from "../../models/secrets/index.ts";

type Handler = (request: object) => unknown;
type Caching = (options: object) => {
  contextSchema: undefined;
  wrapModelCall: (request: object, handler: Handler) => unknown;
};

/**
 * Makes providers cache the beginning of requests, also for a model that is chosen on first use: LangChain's breakpoints
 * for Anthropic and Bedrock; for OpenAI the thread as cache key, so that its requests reach the same server. Other
 * providers cache by themselves or not at all.
 */
export function promptCachingMiddleware() {
  const [anthropic, bedrock] = [anthropicPromptCachingMiddleware, bedrockPromptCachingMiddleware].map(
    (create) => (create as unknown as Caching)({ unsupportedModelBehavior: "ignore" }),
  ) as [ReturnType<Caching>, ReturnType<Caching>];
  return createMiddleware({
    name: "PromptCachingMiddleware",
    contextSchema: anthropic.contextSchema,
    wrapModelCall: async (request, handler) => {
      const { runtime } = request;
      const model = (await settled(request.model as object)) as { getName: () => string };
      const settledRequest = { ...request, model, runtime: { ...runtime, context: runtime.context ?? {} } };
      const pass: Handler = ({ modelSettings }: { modelSettings?: Record<string, unknown> }) =>
        handler({ ...request, ...(modelSettings && { modelSettings }) });
      const name = model.getName();
      const thread = (runtime.configurable as { thread_id?: unknown } | undefined)?.thread_id;
      if (name === "ChatOpenAI" && typeof thread === "string" && isOpenAIs(model)) {
        const key = { promptCacheKey: thread.slice(0, LONGEST_KEY) };
        return pass({ modelSettings: { ...key, ...request.modelSettings } }) as ReturnType<typeof handler>;
      }
      const { wrapModelCall } = name === "ChatBedrockConverse" ? bedrock : anthropic;
      return wrapModelCall(settledRequest, pass) as ReturnType<typeof handler>;
    },
  });
}

const LONGEST_KEY = 64;

/** Whether a model is on OpenAI's own servers: others with its protocol may refuse an unknown field. */
function isOpenAIs(model: object): boolean {
  const { configuration } = fieldsOf(model) as { configuration?: { baseURL?: string } };
  const address = configuration?.baseURL;
  return !address || /^https:\/\/([\w-]+\.)*openai\.(azure\.)?com(:\d+)?(\/|$)/.test(address);
}
