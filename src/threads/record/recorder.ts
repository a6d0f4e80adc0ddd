import { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import { AIMessage, ToolMessage, type BaseMessage, type ToolCall } from "@langchain/core/messages";
import type { LLMResult } from "@langchain/core/outputs";
import { isGraphBubbleUp } from "@langchain/langgraph";
import { attempt } from "../../errors.ts";
import { CONFIG, markOf } from "../../marks.ts";
import { COMMAND_OUTPUT, type PrintedSoFar } from "../../middleware/files/index.ts";
import {
  COMPLETION_REFUSAL,
  type CompletionRefusal,
  isCutOff,
  keepFinishReason,
} from "../../middleware/plan/index.ts";
import { usedTokens } from "../../middleware/prices/index.ts";
import { CALL_REPETITION, type CallRepetition } from "../../middleware/repeats/index.ts";
import { shortened, textOf } from "../../middleware/text/index.ts";
import { failedCommand, resultIn } from "../../middleware/tools/index.ts";
import {
  MODEL_RETRY,
  type ModelRetry,
  allThoughts,
  thoughtFilter,
  thoughtsOf,
  withoutThoughts,
  type Shown,
} from "../../models/index.ts";
import { REMINDER_NAMES } from "../../plan/presets/index.ts";
import { failuresIn } from "../../subagents/index.ts";
import { boundedArgs, boundedText, type RunEventBody } from "../events/index.ts";
import type { Question } from "../questions/index.ts";
import { resultsOf } from "../thread/index.ts";
import { MAIN } from "../view/index.ts";

/** A running call of a model or a tool. */
interface Started {
  owner: string;
  /** Whether it is a call of the harness itself, such as a summary. */
  isHidden: boolean;
  /** Removes thinking from a model's streamed text. */
  shown: (piece: string) => Shown;
  tool?: ToolDetails;
}

interface ToolDetails {
  name: string;
  call: string;
  about: string;
  args: unknown;
  repeated?: true;
}

interface ToolResult {
  ok: boolean;
  result: string;
  exitCode?: number | null;
  /** The reason why a task is not done. */
  verdict?: "part" | "failed";
}

const COMMAND = "execute";

/** Turns the callbacks of a run and its sub-agents into events. `signal` aborts the run. */
export class Recorder extends BaseCallbackHandler {
  name = "holdfast-recorder";
  /** Asks models to stream, as LangGraph's own handlers do. */
  readonly lc_prefer_streaming: boolean;
  override awaitHandlers = true;
  // Not needed, and LangChain would call it several times for every node.
  override ignoreChain = true;
  readonly #emit: (event: RunEventBody) => void;
  readonly #signal: AbortSignal;
  readonly #runs = new Map<string, Started>();
  /** The last answer of each owner with calls, some of which may be unreadable, until those are settled. */
  readonly #unread = new Map<string, AIMessage>();
  /** The calls of the last answer of each owner, until all are settled. */
  readonly #called = new Map<string, ToolCall[]>();
  /** The ids of calls that were made. */
  readonly #made = new Set<string>();
  /** The ids of calls that may be repetitions, until they run. */
  readonly #repeated = new Set<string>();

  constructor(
    emit: (event: RunEventBody) => void,
    signal: AbortSignal,
    { prefersStreaming = true }: { prefersStreaming?: boolean } = {},
  ) {
    super();
    this.lc_prefer_streaming = prefersStreaming;
    this.#emit = emit;
    this.#signal = signal;
  }

  /** Adds a call that waits for the user: another process may have recorded the model's answer with it. */
  expect({ owner, call: id, name, args }: NonNullable<Question["call"]>): void {
    const calls = this.#called.get(owner) ?? [];
    if (!calls.some((call) => call.id === id)) this.#called.set(owner, [...calls, { id, name, args }]);
  }

  /** Emits calls that have a result and were never made: of an unknown tool, or refused by the user. */
  settleUnmade(owner: string, messages: readonly BaseMessage[]): void {
    const calls = this.#called.get(owner) ?? [];
    const replies = resultsOf(
      messages,
      messages.findLastIndex((message) => AIMessage.isInstance(message)),
    );
    const open = calls.filter(({ id = "", name, args }) => {
      const reply = replies.get(id);
      if (!reply) return true;
      if (this.#made.delete(id) || reply.status !== "error") return false;
      this.#fail(owner, detailsOf({ name, call: id, input: JSON.stringify(args) }), resultOf(reply));
      return false;
    });
    this.#called.set(owner, open);
  }

  override handleChatModelStart(
    ...args: Parameters<NonNullable<BaseCallbackHandler["handleChatModelStart"]>>
  ): void {
    const [, [messages = []], runId, , , tags, metadata] = args;
    const run = started(tags, metadata);
    this.#runs.set(runId, run);
    if (!run.isHidden) {
      this.#settleUnread(run.owner);
      this.settleUnmade(run.owner, messages);
    }
    const reminders = remindersIn(messages);
    this.#emit({
      type: "model-start",
      owner: run.owner,
      reminders: reminders.length > 0 ? reminders : undefined,
    });
  }

  override handleCustomEvent(
    name: string,
    data: unknown,
    _runId: string,
    tags?: string[],
    metadata?: Record<string, unknown>,
  ): void {
    const { owner } = started(tags, metadata);
    if (name === CALL_REPETITION) return this.#repeat(owner, data as CallRepetition);
    if (name === COMPLETION_REFUSAL) {
      const { todoId, reason } = data as CompletionRefusal;
      return this.#emit({ type: COMPLETION_REFUSAL, owner, todoId, reason });
    }
    if (name === COMMAND_OUTPUT) {
      const { call, text } = data as PrintedSoFar;
      // A stop has ended the call before its command.
      const isRunning = [...this.#runs.values()].some(
        (run) => run.owner === owner && run.tool?.call === call,
      );
      if (!isRunning) return;
      return this.#emit({ type: "tool-output", owner, call, text });
    }
    if (name !== MODEL_RETRY) return;
    const { seconds, reason } = data as ModelRetry;
    this.#emit({ type: "model-retry", owner, seconds, reason });
  }

  /** Notes a possible repetition: the call runs next, or was answered without a run. */
  #repeat(owner: string, { call, name, args, answer }: CallRepetition): void {
    if (answer === undefined) return void this.#repeated.add(call);
    this.#made.add(call);
    const details = { ...detailsOf({ name, call, input: JSON.stringify(args) }), repeated: true as const };
    this.#fail(owner, details, { ok: false, result: answer });
  }

  override handleLLMNewToken(
    ...args: Parameters<NonNullable<BaseCallbackHandler["handleLLMNewToken"]>>
  ): void {
    const [text, , runId, , , fields] = args;
    const run = this.#runs.get(runId);
    if (!run || run.isHidden) return;
    const { message } = (fields?.chunk ?? {}) as { message?: AIMessage };
    const thought = message ? thoughtsOf(message) : "";
    if (thought) this.#emit({ type: "thought", owner: run.owner, text: thought });
    const { text: piece, anew } = run.shown(text);
    if (piece) this.#emit({ type: "text", owner: run.owner, text: piece, anew: anew || undefined });
  }

  override handleLLMEnd({ generations }: LLMResult, runId: string): void {
    const run = this.#take(runId);
    const generation = generations[0]?.[0] as { message?: unknown } | undefined;
    const message = generation?.message;
    if (!run || !AIMessage.isInstance(message)) return;
    const hasCalls = message.tool_calls?.length || message.invalid_tool_calls?.length;
    // A middleware may still move calls that were cut off to the unreadable ones.
    if (!run.isHidden && hasCalls) this.#unread.set(run.owner, message);
    if (!run.isHidden && message.tool_calls?.length) this.#called.set(run.owner, [...message.tool_calls]);
    const content = run.isHidden ? { text: "" } : contentIn(message);
    keepFinishReason(generation!);
    const isCut = !run.isHidden && !hasCalls && message.text !== "" && isCutOff(message);
    const body = { type: "model-end" as const, owner: run.owner, ...content, usage: usedTokens(message) };
    this.#emit(isCut ? { ...body, isCut } : body);
  }

  override handleLLMError(_error: unknown, runId: string): void {
    this.#take(runId);
  }

  override handleToolStart(...args: Parameters<NonNullable<BaseCallbackHandler["handleToolStart"]>>): void {
    const [tool, input, runId, , tags, metadata, runName, callId] = args;
    const run = started(tags, metadata);
    const call = callId ?? runId;
    const isRepeated = this.#repeated.delete(call);
    const details: ToolDetails = {
      ...detailsOf({ name: runName ?? tool.id.at(-1) ?? "tool", call, input }),
      ...(isRepeated && { repeated: true }),
    };
    this.#settleUnread(run.owner);
    this.#runs.set(runId, { ...run, tool: details });
    this.#made.add(details.call);
    this.#emit({ type: "tool-start", owner: run.owner, ...details });
  }

  override handleToolEnd(output: unknown, runId: string): void {
    const message = resultIn(output);
    this.#endTool(runId, message ? resultOf(message) : { ok: true, result: String(output) });
  }

  override handleToolError(error: unknown, runId: string): void {
    // An interrupted tool has neither failed nor ended.
    if (isGraphBubbleUp(error)) this.#take(runId);
    else if (this.#signal.aborted) this.#stop(runId);
    else this.#endTool(runId, { ok: false, result: error instanceof Error ? error.message : String(error) });
  }

  /** Settles everything that is open at the end of a run. */
  finish(): void {
    for (const owner of this.#unread.keys()) this.#settleUnread(owner);
    if (this.#signal.aborted) for (const runId of this.#runs.keys()) this.#stop(runId);
  }

  /** A stop ends a command. Other tools may continue for a while, and have neither failed nor ended. */
  #stop(runId: string): void {
    const isCommand = this.#runs.get(runId)?.tool?.name === COMMAND;
    if (isCommand) this.#endTool(runId, { ok: false, result: "Stopped.", exitCode: null });
    else this.#take(runId);
  }

  #endTool(runId: string, result: ToolResult): void {
    const run = this.#take(runId);
    if (run?.tool) this.#emit({ type: "tool-end", owner: run.owner, ...run.tool, ...endFields(result) });
  }

  /** Emits calls with unreadable arguments, unless a middleware has repaired them in the message. */
  #settleUnread(owner: string): void {
    const answer = this.#unread.get(owner);
    this.#unread.delete(owner);
    for (const { id = "", name, args: input = "", error } of answer?.invalid_tool_calls ?? []) {
      const result = `The arguments could not be read: ${error || "they are no JSON"}`;
      this.#fail(owner, detailsOf({ name: name || "tool", call: id, input }), { ok: false, result });
    }
  }

  #fail(owner: string, details: ToolDetails, result: ToolResult): void {
    this.#emit({ type: "tool-start", owner, ...details });
    this.#emit({ type: "tool-end", owner, ...details, ...endFields(result) });
  }

  #take(runId: string): Started | undefined {
    const run = this.#runs.get(runId);
    this.#runs.delete(runId);
    return run;
  }
}

/** A call by the model or tool of an agent, or of the harness itself. */
function started(tags: string[] | undefined, metadata: Record<string, unknown> | undefined): Started {
  const owner = metadata?.[CONFIG.owner];
  const isHidden =
    (tags ?? []).some((tag) => tag.endsWith("nostream")) || metadata?.["lc_source"] === "summarization";
  return { owner: typeof owner === "string" ? owner : MAIN, isHidden, shown: thoughtFilter() };
}

/** The text of an answer, and its thoughts. */
export function contentIn(message: AIMessage): { text: string; thoughts?: string } {
  const thoughts = allThoughts(message);
  return { text: withoutThoughts(textOf(message)), thoughts: thoughts ? boundedText(thoughts) : undefined };
}

export function detailsOf({ name, call, input }: { name: string; call: string; input: string }): ToolDetails {
  return { name, call, about: aboutCall(input), args: boundedArgs(input) };
}

export function endFields({ ok, result, exitCode, verdict }: ToolResult) {
  return {
    ok,
    result: cut(result.trim().split("\n", 1)[0] ?? ""),
    output: boundedText(result),
    exitCode,
    verdict,
  };
}

/** The result in a message. A failed command is a failure here, but no error for the model. */
export function resultOf(message: ToolMessage): ToolResult {
  const failure = failedCommand(message);
  if (failure) return { ok: false, result: textOf(message), exitCode: failure.exitCode };
  const verdict = failuresIn(message)[message.tool_call_id]?.result ?? "done";
  if (verdict !== "done") return { ok: false, result: textOf(message), verdict };
  return { ok: message.status !== "error", result: textOf(message) };
}

/**
 * The names of the reminders at the end of a request. Those before it are from earlier requests. A plan's reminder has
 * its default name here, whatever name the options give it.
 */
export function remindersIn(messages: readonly BaseMessage[]): string[] {
  const last = messages.findLastIndex(({ type }) => type === "ai" || type === "tool");
  return messages.slice(last + 1).flatMap((message) => {
    const kind = markOf(message, "holdfast_reminder");
    const name = REMINDER_NAMES[kind as keyof typeof REMINDER_NAMES] ?? message.name;
    return markOf(message, "hide_from_ui") && name?.endsWith("_reminder") ? [name] : [];
  });
}

const MOST = 120;

/** The most informative arguments of a call, for a list. */
function aboutCall(input: string): string {
  const args = attempt((): unknown => JSON.parse(input));
  if (typeof args !== "object" || args === null) return cut(input);
  const texts = textArguments(args as Record<string, unknown>);
  return cut(texts.length > 0 ? texts.slice(0, 2).join(" ") : input);
}

const ARGUMENTS = [
  "file_path",
  "path",
  "pattern",
  "command",
  "title",
  "description",
  "question",
  "query",
  "url",
  "name",
];

/** The informative text arguments of a call, the most informative first. */
export function textArguments(args: Readonly<Record<string, unknown>>): string[] {
  return ARGUMENTS.flatMap((key) => {
    const value = args[key];
    return typeof value === "string" && value !== "" ? value : [];
  });
}

function cut(text: string): string {
  return shortened(text, MOST);
}
