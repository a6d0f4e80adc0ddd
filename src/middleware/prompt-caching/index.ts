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
 * Hints by which a provider keeps the beginning of a request in its cache, for a model that is chosen when it is first
 * used, too: breakpoints for Anthropic's and Bedrock's, set by LangChain, and for OpenAI's the thread as a key, so that
 * its requests reach the same server. Others keep it unasked, or not at all.
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
      const seen = { ...request, model, runtime: { ...runtime, context: runtime.context ?? {} } };
      const pass: Handler = ({ modelSettings }: { modelSettings?: Record<string, unknown> }) =>
        handler({ ...request, ...(modelSettings && { modelSettings }) });
      const name = model.getName();
      const thread = (runtime.configurable as { thread_id?: unknown } | undefined)?.thread_id;
      if (name === "ChatOpenAI" && typeof thread === "string" && isOpenAIs(model)) {
        const key = { promptCacheKey: thread.slice(0, LONGEST_KEY) };
        return pass({ modelSettings: { ...key, ...request.modelSettings } }) as ReturnType<typeof handler>;
      }
      const { wrapModelCall } = name === "ChatBedrockConverse" ? bedrock : anthropic;
      return wrapModelCall(seen, pass) as ReturnType<typeof handler>;
    },
  });
}

const LONGEST_KEY = 64;

/** Tells OpenAI's own address: other servers of its protocol may refuse a field that they do not know. */
function isOpenAIs(model: object): boolean {
  const { configuration } = fieldsOf(model) as { configuration?: { baseURL?: string } };
  const address = configuration?.baseURL;
  return !address || /^https:\/\/([\w-]+\.)*openai\.(azure\.)?com(:\d+)?(\/|$)/.test(address);
}
