import { AIMessage, getBufferString, HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { Command } from "@langchain/langgraph";
import { createMiddleware, summarizationMiddleware as langchainSummarization } from "langchain";
import type { Workspace } from "../files/workspace.ts";
import type { ToolRuntime } from "../loose-tool.ts";

/** How much conversation there may be: `fraction` of the model's input, tokens, or messages. */
export interface ContextSize {
  fraction?: number;
  tokens?: number;
  messages?: number;
}

/** Options of `summarizationMiddleware`. */
export interface SummarizationOptions {
  /** The model that writes the summary. */
  model: object;
  /** When to summarize. Default: 85% of the model's input where its profile is known, else 120,000 tokens. */
  trigger?: ContextSize | ContextSize[];
  /** What to keep as it is. Default: 10% of the model's input where its profile is known, else 20 messages. */
  keep?: ContextSize;
  summaryPrompt?: string;
  /** Where the full conversation is kept; without it, it is lost. */
  workspace?: Workspace;
}

/**
 * LangChain's summarization, made part of the model call: it costs no graph step until there is something to
 * summarize, keeps the full conversation in a file, and says so in the summary. Put it first: the state gets the
 * model's answer as it arrives here.
 */
export function summarizationMiddleware({
  model,
  trigger,
  keep,
  summaryPrompt,
  workspace,
}: SummarizationOptions) {
  const known = inputLimit(model) !== undefined;
  const inner = (langchainSummarization as unknown as (options: object) => Inner)({
    model,
    trigger: trigger ?? (known ? { fraction: 0.85 } : { tokens: 120_000 }),
    keep: keep ?? (known ? { fraction: 0.1 } : { messages: 20 }),
    ...(summaryPrompt !== undefined && { summaryPrompt }),
  });
  return createMiddleware({
    name: "SummarizationMiddleware",
    contextSchema: inner.contextSchema,
    wrapModelCall: async (request, handler) => {
      const { state, runtime } = request;
      const found = await inner.beforeModel(state, { ...runtime, context: runtime.context ?? {} });
      if (!found) return handler(request);
      const update = workspace
        ? await withHistory(found, state.messages, { workspace, state, runtime })
        : found;
      const [remove, ...messages] = update.messages;
      const answer = await handler({ ...request, messages });
      if (!AIMessage.isInstance(answer)) return answer;
      return new Command({ update: { ...update, messages: [remove, ...messages, answer] } });
    },
  });
}

interface Inner {
  contextSchema: undefined;
  beforeModel: (state: unknown, runtime: unknown) => Promise<{ messages: BaseMessage[] } | undefined>;
}

/** Adds what the summary replaces to the thread's history file, and the file's name to the summary. */
async function withHistory(
  update: { messages: BaseMessage[] },
  before: BaseMessage[],
  { workspace, state, runtime }: { workspace: Workspace; state: unknown; runtime: ToolRuntime },
): Promise<{ messages: BaseMessage[]; files?: object }> {
  const [remove, summary, ...kept] = update.messages;
  const keptIds = new Set(kept.map((message) => message.id));
  const gone = before.filter((message) => !keptIds.has(message.id) && !isSummary(message));
  if (!remove || !summary || gone.length === 0) return update;
  const { backend, changes } = workspace.open(state, runtime);
  const thread = runtime.configurable?.["thread_id"];
  // Encoded, so that no two threads share a file and no name leads elsewhere.
  const path = `/history/${encodeURIComponent(typeof thread === "string" ? thread : "thread").replaceAll("%", "=")}.md`;
  const earlier = await backend.read(path);
  const saved = await backend.write(
    path,
    `${earlier.ok ? `${earlier.content}\n` : ""}${getBufferString(gone)}\n`,
  );
  if (!saved.ok) return update;
  const said = new HumanMessage({
    content: `${summary.text}\n\nThe full conversation up to here is in ${path}.`,
    additional_kwargs: summary.additional_kwargs,
    ...(summary.id !== undefined && { id: summary.id }),
  });
  const files = changes();
  return { messages: [remove, said, ...kept], ...(Object.keys(files).length > 0 && { files }) };
}

function isSummary(message: BaseMessage): boolean {
  return message.additional_kwargs["lc_source"] === "summarization";
}

function inputLimit(model: object): number | undefined {
  const { profile } = model as { profile?: { maxInputTokens?: unknown } };
  return typeof profile?.maxInputTokens === "number" ? profile.maxInputTokens : undefined;
}
