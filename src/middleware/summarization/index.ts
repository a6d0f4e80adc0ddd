import { createHash } from "node:crypto";
import { AIMessage, getBufferString, HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { Command, getCurrentTaskInput } from "@langchain/langgraph";
import {
  countTokensApproximately,
  createMiddleware,
  summarizationMiddleware as langchainSummarization,
} from "langchain";
import { settled } from "../../models/deferred.ts";
import { failureOf } from "../../models/failure.ts";
import { withoutThoughts } from "../../models/thoughts.ts";
import { Beginnings } from "../beginnings.ts";
import type { Workspace } from "../files/workspace.ts";
import type { ToolRuntime } from "../loose-tool.ts";
import { ownerOf } from "../plan/events.ts";
import { threadIdOf } from "../thread-data/thread-id.ts";

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
  /** The folder for it. Default `/history`. */
  folder?: string;
}

/**
 * LangChain's summarization, made part of the model call: it costs no graph step until there is something to
 * summarize, keeps the full conversation in a file, and says so in the summary. A conversation that the provider
 * finds too long is summarized too, and sent once more. Put it first: the state gets the model's answer as it
 * arrives here.
 */
export function summarizationMiddleware(options: SummarizationOptions) {
  const { model, trigger, keep, summaryPrompt, workspace, folder = "/history" } = options;
  const count = countOnce();
  const create = (writer: object): Inner => {
    const limit = inputLimit(writer);
    const isKnown = limit !== undefined;
    const sizes = [trigger ?? (isKnown ? { fraction: 0.85 } : { tokens: 120_000 })].flat();
    const rest = keep ?? (isKnown ? { fraction: 0.1 } : { messages: 20 });
    const made = (langchainSummarization as unknown as (options: object) => Inner)({
      model: writer,
      trigger: sizes,
      keep: rest,
      ...(summaryPrompt !== undefined && { summaryPrompt }),
      tokenCounter: count,
    });
    // Of a share of what nobody knows LangChain says that it cannot be.
    const isClear = isKnown || [...sizes, rest].every(({ fraction }) => fraction === undefined);
    const isShort: Inner["isShort"] = (messages) => isClear && isBelow(sizes, { messages, count, limit });
    return { ...made, isShort };
  };
  /** Made with the first call: how much a model takes is known when it has been chosen. */
  let made: Promise<Inner> | undefined;
  return createMiddleware({
    name: "SummarizationMiddleware",
    contextSchema: create(model).contextSchema,
    wrapModelCall: async (request, handler) => {
      const { state, runtime } = request;
      const context: object = runtime.context ?? {};
      const inner = await (made ??= settled(model).then(create));
      const summarize = async (size: object): Promise<{ messages: BaseMessage[] } | undefined> => {
        // LangChain reads its options by their schema in every call, and most find nothing to do.
        if (!isSet({ ...context, ...size }) && inner.isShort(state.messages)) return undefined;
        const found = await inner.beforeModel(state, { ...runtime, context: { ...context, ...size } });
        const [remove, summary, ...kept] = found?.messages ?? [];
        const told = summary && summaryOf(summary);
        return told && { ...found, messages: [remove!, told, ...kept] };
      };
      const send = async (found: { messages: BaseMessage[] } | undefined) => {
        if (!found) return handler(request);
        const history =
          workspace && historyOf(found.messages, state.messages, { workspace, folder, runtime });
        const [remove, summary, ...kept] = found.messages;
        const told = history?.toldIn(summary!) ?? summary!;
        const answer = await handler({ ...request, messages: [told, ...kept] });
        if (!AIMessage.isInstance(answer)) return answer;
        // Not before the model has answered: a call that fails is made again, and would be written down each time.
        const saved = await history?.save();
        const messages = [remove!, saved ? told : summary!, ...kept, answer];
        return new Command({ update: { ...found, ...saved, messages } });
      };
      const usual = await summarize({});
      try {
        return await send(usual);
      } catch (error) {
        if (!isTooLong(error)) throw error;
        // How much fits nobody says, and this is the only other try: most of what was sent has to go.
        const tokens = Math.floor(count(usual?.messages.slice(2) ?? state.messages) / 4);
        const shorter = await summarize({ trigger: { messages: 1 }, keep: { tokens } });
        if (!shorter) throw error;
        try {
          return await send(shorter);
        } catch (again) {
          throw isTooLong(again) ? error : again;
        }
      }
    },
  });
}

function isTooLong(error: unknown): boolean {
  return failureOf(error).kind === "too-long";
}

/** LangChain's approximation, which would read the whole conversation anew in every turn, for what is new in it. */
function countOnce(): (messages: readonly BaseMessage[]) => number {
  const counts = new WeakMap<BaseMessage, number>();
  const totals = new Beginnings<number>();
  const countOf = (message: BaseMessage): number => {
    const count = counts.get(message) ?? countTokensApproximately([message]);
    counts.set(message, count);
    return count;
  };
  return (messages) => {
    const { length, found } = totals.of(messages) ?? { length: 0, found: 0 };
    const total = messages.slice(length).reduce((sum, message) => sum + countOf(message), found);
    totals.keep(messages, messages.length, total);
    return total;
  };
}

/** Whether the context of a call says when to summarize, or how to count. */
function isSet(context: object): boolean {
  return ["trigger", "keep", "tokenCounter"].some(
    (key) => (context as Record<string, unknown>)[key] !== undefined,
  );
}

interface Conversation {
  messages: readonly BaseMessage[];
  count: (messages: readonly BaseMessage[]) => number;
  /** What the model takes, where that is known. */
  limit: number | undefined;
}

/** Whether a conversation is certainly below each of some sizes, as LangChain reads them: all parts of one count. */
function isBelow(sizes: readonly ContextSize[], { messages, count, limit = 0 }: Conversation): boolean {
  const total = count(messages);
  return sizes.every(
    (size) =>
      messages.length < (size.messages ?? 0) ||
      total < (size.tokens ?? 0) ||
      total < Math.floor(limit * (size.fraction ?? 0)),
  );
}

interface Inner {
  contextSchema: undefined;
  /** Whether there is nothing to summarize yet. */
  isShort: (messages: readonly BaseMessage[]) => boolean;
  beforeModel: (state: unknown, runtime: unknown) => Promise<{ messages: BaseMessage[] } | undefined>;
}

interface History {
  /** The summary, with the name of the history file. */
  toldIn: (summary: BaseMessage) => HumanMessage;
  /** Adds what the summary replaces to the file. Returns the update of the state, or nothing when it cannot. */
  save: () => Promise<{ files?: object } | undefined>;
}

/** The history file of a thread; undefined when there is nothing to add to it. */
function historyOf(
  [, , ...kept]: readonly BaseMessage[],
  before: readonly BaseMessage[],
  { workspace, folder, runtime }: { workspace: Workspace; folder: string; runtime: ToolRuntime },
): History | undefined {
  const keptIds = new Set(kept.map((message) => message.id));
  const gone = before.filter((message) => !keptIds.has(message.id) && !isSummary(message));
  if (gone.length === 0) return undefined;
  const path = `${folder}/${historyName(runtime)}.md`;
  return {
    toldIn: ({ text, additional_kwargs, id }) =>
      new HumanMessage({
        content: `${text}\n\nThe full conversation up to here is in ${path}.`,
        additional_kwargs,
        ...(id !== undefined && { id }),
      }),
    save: async () => {
      // The middleware's own view of the state has no files in it.
      const { backend, changes } = workspace.open(getCurrentTaskInput(), runtime);
      const earlier = await backend.read(path);
      const content = earlier.ok ? `${earlier.content}\n` : "";
      const added = `${getBufferString(gone)}\n`;
      // A process that ended before its state was saved has written it down already.
      const isThere = earlier.ok && earlier.content.endsWith(added);
      const saved = isThere || (await backend.write(path, content + added)).ok;
      if (!saved) return undefined;
      const files = changes();
      return Object.keys(files).length > 0 ? { files } : {};
    },
  };
}

/**
 * A name for each thread and each sub-agent in it; encoded, so that no two share a file and none leads elsewhere. One
 * that no file can have is named by its hash.
 */
function historyName(runtime: ToolRuntime): string {
  const owner = ownerOf(runtime, "");
  const name = `${threadIdOf(runtime)}${owner && ` ${owner}`}`;
  const encoded = name.isWellFormed() ? encodeURIComponent(name).replaceAll("%", "=") : "";
  if (encoded !== "" && encoded.length <= LONGEST_NAME) return encoded;
  // No encoded name begins so.
  return `=hash-${createHash("sha256").update(name, "utf16le").digest("hex").slice(0, 40)}`;
}

/** What every file system takes, with an ending. */
const LONGEST_NAME = 200;

/**
 * The summary without what the model thought about it. Undefined when there is none: LangChain puts the error into
 * it when it could not be had, and would drop the conversation.
 */
function summaryOf(message: BaseMessage): BaseMessage | undefined {
  const { text, id, additional_kwargs } = message;
  if (text.includes("Error generating summary:")) return undefined;
  // The model's own words follow a line that says what they are.
  const start = text.indexOf("\n\n") + 2;
  const [heading, said] = [text.slice(0, start), text.slice(start)];
  const summary = withoutThoughts(said);
  if (summary === said) return message;
  if (summary.trim() === "") return undefined;
  return new HumanMessage({ content: heading + summary, additional_kwargs, ...(id !== undefined && { id }) });
}

function isSummary(message: BaseMessage): boolean {
  return message.additional_kwargs["lc_source"] === "summarization";
}

function inputLimit(model: object): number | undefined {
  const { profile } = model as { profile?: { maxInputTokens?: unknown } };
  return typeof profile?.maxInputTokens === "number" ? profile.maxInputTokens : undefined;
}
