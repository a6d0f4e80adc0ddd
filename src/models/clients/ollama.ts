import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { ToolMessage } from "@langchain/core/messages";
import { patchModel } from "../patched-model.ts";
import { retryingModel } from "../retry/retrying-model.ts";
import { sampling, type ClientOptions } from "./clients.ts";
import { answersWithCalls, fitted, fittingFetch, withFieldsFrom, type Fit } from "./fitted.ts";

/**
 * LangChain's client leaves out which tool a result is of and what the model thought before its calls. It looks at its
 * signal only between two pieces of an answer, so that a server would never hear of a cancelled call: the `fetch` has it.
 */
const FIT: Fit = {
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
    fetch: fittingFetch(options.fetch, FIT),
    ...rest,
    ...(numPredict !== undefined && { numPredict }),
    ...(numCtx !== undefined && { numCtx }),
  });
  if (numCtx !== undefined) {
    patchModel(client, (one) => {
      const { numCtx: maxInputTokens = numCtx } = one as { numCtx?: number };
      Object.defineProperty(one, "profile", { value: { ...one.profile, maxInputTokens } });
    });
  }
  return retryingModel(fitted(client, FIT), options.maxRetries);
}

/** The window that is asked for of a model that has more: one takes memory, and Ollama's own default is far too small. */
const MOST_TOKENS = 65_536;
/** The wait for a server that is asked about a model: it answers at once, or is not there. */
const SHOW_TIMEOUT = 2000;

/** The tokens that a model is to take. Undefined where the server does not tell: it then takes as many as it likes. */
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
    return typeof length === "number" ? Math.min(length, MOST_TOKENS) : undefined;
  } catch {
    return undefined;
  }
}
