import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { ToolMessage } from "@langchain/core/messages";
import { patchModel } from "../patched-model.ts";
import { retryingModel } from "../retry/retrying-model.ts";
import {
  answersWithCalls,
  adaptRequests,
  adaptingFetch,
  withFieldsFrom,
  type RequestAdapter,
} from "./adapt-requests.ts";
import { sampling, type ClientOptions } from "./clients.ts";

/**
 * LangChain's client leaves out the tool name of a result and the thoughts before calls. It also checks its signal only
 * between pieces of an answer; the adapting `fetch` passes the signal to the request, so that a cancelled call ends at
 * once.
 */
const ADAPTER: RequestAdapter = {
  body: (body, messages) => {
    const results = messages.filter(({ type }) => type === "tool") as ToolMessage[];
    const callers = answersWithCalls(messages);
    const names = new Map(
      callers.flatMap(({ tool_calls: calls = [] }) => calls.map(({ id, name }) => [id, name])),
    );
    const named = withFieldsFrom(
      body,
      ({ role }) => role === "tool",
      results,
      ({ tool_call_id: id, name }) => ({ tool_name: names.get(id) ?? name }),
    );
    return withFieldsFrom(
      named,
      ({ tool_calls: calls = [] }) => calls.length > 0,
      callers,
      ({ additional_kwargs: { reasoning_content: thinking } }) =>
        typeof thinking === "string" ? { thinking } : {},
    );
  },
};

export async function createOllama(options: ClientOptions): Promise<BaseChatModel> {
  const { ChatOllama } = await import("@langchain/ollama");
  const { model, baseUrl } = options;
  const { maxTokens: numPredict, ...rest } = sampling(options);
  const numCtx = await windowOf(options);
  const client = new ChatOllama({
    model,
    baseUrl,
    fetch: adaptingFetch(options.fetch, ADAPTER),
    ...rest,
    numPredict,
    numCtx,
  });
  if (numCtx !== undefined) {
    patchModel(client, (one) => {
      const { numCtx: maxInputTokens = numCtx } = one as { numCtx?: number };
      Object.defineProperty(one, "profile", { value: { ...one.profile, maxInputTokens } });
    });
  }
  return retryingModel(adaptRequests(client, ADAPTER), options.maxRetries);
}

/** The maximum context window to request. A window takes memory, and Ollama's default is far too small. */
const MAX_WINDOW = 65_536;
/** The time limit for a question about a model, which a running server answers at once. */
const SHOW_TIMEOUT = 2000;

/** The context window to request. Undefined if the server does not tell that of the model: it then uses its default. */
async function windowOf({ model, baseUrl, contextTokens }: ClientOptions): Promise<number | undefined> {
  if (contextTokens !== undefined) return contextTokens;
  try {
    const response = await globalThis.fetch(`${baseUrl}/api/show`, {
      method: "POST",
      body: JSON.stringify({ model }),
      signal: AbortSignal.timeout(SHOW_TIMEOUT),
    });
    const { model_info: facts = {} } = (await response.json()) as { model_info?: Record<string, unknown> };
    const length = Object.entries(facts).find(([key]) => key.endsWith(".context_length"))?.[1];
    return typeof length === "number" ? Math.min(length, MAX_WINDOW) : undefined;
  } catch {
    return undefined;
  }
}
