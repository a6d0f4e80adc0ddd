import { HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { getCurrentTaskInput, isGraphBubbleUp } from "@langchain/langgraph";
import { renderSnapshot } from "../../plan/render/index.ts";
import type { Account } from "../budget/index.ts";
import { readContext, type ContextMemory, type Summary } from "../context-memory/index.ts";
import { conversationFileFor, withShortMessages } from "../conversation-file/index.ts";
import { ownerOf, type ModelRequest, readPlanState } from "../plan/index.ts";
import { NO_TOKENS, sumTokens, usedTokens, type UsageSource } from "../prices/index.ts";
import { shortened } from "../text/index.ts";
import { withoutControlTags } from "../tools/index.ts";
import type { SummaryEvent } from "./events.ts";
import type { SummarizationOptions } from "./options.ts";
import { compose, type Composition } from "./request/compose.ts";
import {
  countTools,
  cutOf,
  isDue,
  lastUsage,
  tokenLimit,
  windowOf,
  type Measured,
  type Sizes,
} from "./request/sizes.ts";
import { userWords, wordsText } from "./request/user-words.ts";
import type { RunMemory } from "./run-memory.ts";
import { writeSummary, type Summarizer } from "./summarizer.ts";

export interface TurnParts {
  options: SummarizationOptions;
  sizes: Sizes;
  count: (messages: readonly BaseMessage[]) => number;
  run: RunMemory;
  account: Account | undefined;
  /** The agent's model, and the model that writes summaries. */
  own: object;
  writer: object;
}

/** A conversation that fits, and the update of the thread's memory for it. */
export interface Fitting {
  composition: Composition;
  update?: ContextMemory;
}

const MOST_WORDS = 20_000;
/** The share of the limit below which leaving out old results is enough, without a summary. */
const WORTH_CLEARING = 0.75;
/** Tokens of the window reserved for the request for a summary and its answer. */
const RESERVE = 4_000;
/** The most tokens of a request to a summarizer whose window is unknown. */
const DEFAULT_PART = 100_000;

/** Makes the conversation of one model call fit. */
export class ContextTurn {
  readonly #request: ModelRequest;
  readonly #parts: TurnParts;
  #memory: ContextMemory;
  readonly #file: string | undefined;
  readonly #tools: readonly string[];
  /** The token usage of the current summary so far. */
  #used = NO_TOKENS;

  constructor(request: ModelRequest, parts: TurnParts) {
    this.#file = conversationFileFor(request.tools);
    const { messages: conversation } = request.state as { messages: BaseMessage[] };
    const messages = withShortMessages(request.messages, { conversation, file: this.#file });
    this.#request = { ...request, messages };
    this.#tools = request.tools.map((tool) => (tool as { name?: string }).name ?? "");
    this.#parts = parts;
    this.#memory = readContext(request.state, request.runtime.configurable);
  }

  /** The conversation for the request: unchanged, without old results, or with a summary. */
  async fit(): Promise<Fitting> {
    const fitting = await this.#fit();
    this.#memory = { ...this.#memory, ...fitting.update };
    return fitting;
  }

  async #fit(): Promise<Fitting> {
    const { sizes, count } = this.#parts;
    const composition = this.#compose(this.#memory);
    const measured = this.#measure(composition);
    if (!isDue(sizes, measured)) return { composition };
    const limit = tokenLimit(sizes);
    const cleared = limit === undefined ? undefined : this.#clearOldResults(composition);
    const saved = cleared ? count(composition.messages) - count(cleared.composition.messages) : 0;
    const after = { ...measured, tokens: measured.tokens - saved };
    if (cleared && limit !== undefined && after.tokens <= limit * WORTH_CLEARING && !isDue(sizes, after)) {
      return cleared;
    }
    const summarized = await this.#summarize(composition, { sizes, tokens: measured.tokens });
    return summarized ?? cleared ?? { composition };
  }

  /** A shorter conversation after the provider has refused this one; undefined if nothing can be left out. */
  async shorten({ composition }: Fitting): Promise<Fitting | undefined> {
    const { sizes, count } = this.#parts;
    // How much would fit is unknown and there is only one more try, so most of the conversation is summarized.
    const keep = { tokens: Math.floor(count(composition.rest) / 4) };
    const tokens = this.#measure(composition).tokens;
    return this.#summarize(composition, {
      sizes: { ...sizes, trigger: [{ tokens }], keep },
      tokens,
      isRefused: true,
    });
  }

  #compose(memory: ContextMemory): Composition {
    return compose(this.#request.messages, memory, { file: this.#file, tools: this.#tools });
  }

  /** The most tokens of the user's words, less in a small window. */
  #wordsLimit(refused: number | undefined): number {
    const { userWords: most = MOST_WORDS } = this.#parts.options;
    const limit = tokenLimit(this.#parts.sizes) ?? Infinity;
    return Math.min(most, Math.floor(limit / 4), Math.floor((refused ?? Infinity) / 8));
  }

  /** The size of the whole request: the provider's last count plus an estimate of later messages, or an estimate. */
  #measure({ messages, rest }: Composition): Measured {
    const { count } = this.#parts;
    const usage = lastUsage(rest, this.#memory.since);
    if (usage) {
      const later = messages.slice(messages.length - rest.length + usage.at);
      return { messages: messages.length, tokens: usage.tokens + count(later) };
    }
    return { messages: messages.length, tokens: this.#besides + count(messages) };
  }

  /** The tokens of system prompt and tools. */
  get #besides(): number {
    const { count, run, own } = this.#parts;
    const { systemMessage, tools } = this.#request;
    const last = run.outgoingTo(own);
    const sentTools = last && last.tools.length !== tools.length ? last.tools : tools;
    return count([last?.system ?? systemMessage]) + countTools(sentTools);
  }

  /**
   * The conversation without old results, up to where a summary would reach. Results of the last two turns stay: the
   * model has not seen the last one's yet, and works with the other's.
   */
  #clearOldResults({ rest }: Composition): Fitting | undefined {
    const { sizes, count } = this.#parts;
    const turns = [...rest.keys()].filter((at) => rest[at]!.type === "ai");
    const end = Math.min(cutOf(rest, sizes, count), turns.at(-2) ?? 0) - 1;
    const upTo = rest[end]?.id;
    const { cleared } = this.#memory;
    if (upTo === undefined || end <= rest.findLastIndex(({ id }) => id === cleared)) return undefined;
    const update = { cleared: upTo, ...this.#since };
    return { composition: this.#compose({ ...this.#memory, ...update }), update };
  }

  get #since(): Pick<ContextMemory, "since"> {
    const last = this.#request.messages.at(-1)?.id;
    return last === undefined ? {} : { since: last };
  }

  async #summarize(
    composition: Composition,
    { sizes, tokens, isRefused = false }: { sizes: Sizes; tokens: number; isRefused?: boolean },
  ): Promise<Fitting | undefined> {
    const { count, run } = this.#parts;
    const { rest, head } = composition;
    const file = this.#file;
    const words = wordsText(userWords(this.#request.messages), { tokens: this.#wordsLimit(undefined), file });
    const besides = this.#besides + count([head ?? new HumanMessage(words)]);
    const goes = this.#inThread(rest.slice(0, cutOf(rest, { ...sizes, besides }, count)));
    if (goes.length === 0 || (!isRefused && run.isBackingOff(rest.length))) return undefined;
    const upTo = goes.at(-1)!.id!;
    const summary =
      run.unsavedSummary(upTo) ??
      (await this.#write(composition, { goes, tokens, ...(isRefused && { refused: tokens }) }));
    if (!summary) return undefined;
    run.keep(summary);
    const update = { summary, ...this.#since };
    return { composition: this.#compose({ ...this.#memory, ...update }), update };
  }

  /** The messages without those at the end that another middleware has added to this request only. */
  #inThread(messages: readonly BaseMessage[]): readonly BaseMessage[] {
    const { messages: saved = [] } = this.#request.state as { messages?: BaseMessage[] };
    const ids = new Set(saved.map(({ id }) => id));
    return messages.slice(0, messages.findLastIndex(({ id }) => id !== undefined && ids.has(id)) + 1);
  }

  async #write(
    composition: Composition,
    { goes, tokens, refused }: { goes: readonly BaseMessage[]; tokens: number; refused?: number },
  ): Promise<Summary | undefined> {
    const { count, run } = this.#parts;
    const { messages } = this.#request;
    const { summary: last } = this.#memory;
    const { rest } = composition;
    const covered = messages.length - rest.length;
    const earlierWords = userWords(messages.slice(0, covered));
    const words = this.#wordsLimit(refused);
    this.#used = NO_TOKENS;
    try {
      const text = await writeSummary(
        {
          goes,
          stays: rest.slice(goes.length),
          earlier: covered > 0 ? last!.text : undefined,
          words: wordsText(earlierWords, { tokens: words, file: this.#file }),
          plan: planText(),
        },
        this.#summarizer(composition, { tokens, refused }),
      );
      const summary: Summary = {
        upTo: goes.at(-1)!.id!,
        text,
        number: (covered > 0 ? last!.number : 0) + 1,
        covers: covered + goes.length,
        messages: goes.length,
        tokens: count(goes),
        words,
        used: this.#used,
        at: Date.now(),
      };
      run.noteSuccess();
      this.#emit({ type: "summary", number: summary.number, messages: goes.length, tokens: summary.tokens });
      return summary;
    } catch (error) {
      if (isGraphBubbleUp(error) || this.#request.runtime.signal?.aborted) throw error;
      if (run.noteFailure(rest.length))
        this.#emit({
          type: "summary-failure",
          reason: shortened(error instanceof Error ? error.message : String(error), 200),
        });
      return undefined;
    }
  }

  #summarizer(
    { messages: composed }: Composition,
    { tokens, refused }: { tokens: number; refused: number | undefined },
  ): Summarizer {
    const { options, sizes, run, own, writer, account } = this.#parts;
    const { signal } = this.#request.runtime;
    const config = {
      metadata: { lc_source: "summarization" },
      tags: ["nostream"],
      ...(signal && { signal }),
    };
    const counted = async (answer: unknown): Promise<unknown> => {
      const used = usedTokens((await answer) as UsageSource);
      this.#used = sumTokens(this.#used, used);
      account?.addTokens(used, options.prices);
      return answer;
    };
    const last = run.outgoingTo(own);
    const fits = sizes.window === undefined || tokens + RESERVE <= sizes.window;
    const isOwn = options.model === undefined && refused === undefined && last !== undefined && fits;
    // Escaped as in the agent's own requests, so that the provider's cache applies.
    const messages = withoutControlTags(composed, "system_reminder");
    const window = windowOf(writer);
    const limit = Math.min(window === undefined ? DEFAULT_PART : window * 0.7, (refused ?? Infinity) / 2);
    return {
      inConversation: isOwn
        ? (request: HumanMessage) =>
            counted(last.send([...(last.system ? [last.system] : []), ...messages, request], config))
        : undefined,
      send: (input) => counted((writer as Writer).invoke(input, config)),
      limit,
      prompt: options.summaryPrompt,
    };
  }

  #emit(event: EventDetails): void {
    const { runtime } = this.#request;
    runtime.writer?.({ version: 1, owner: ownerOf(runtime, "main"), at: Date.now(), ...event });
  }
}

/** An event without the fields that all events have. */
type EventDetails = SummaryEvent extends infer Event
  ? Event extends SummaryEvent
    ? Omit<Event, "version" | "owner" | "at">
    : never
  : never;

/** The current plan, from the task's input: LangChain passes only the middleware's own fields of the state. */
function planText(): string {
  const { todos, rules } = readPlanState(getCurrentTaskInput());
  return renderSnapshot(todos, rules);
}

interface Writer {
  invoke: (messages: BaseMessage[], config: object) => Promise<unknown>;
}
