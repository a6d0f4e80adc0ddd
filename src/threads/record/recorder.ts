import { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import { AIMessage, ToolMessage, type BaseMessage, type ToolCall } from "@langchain/core/messages";
import type { LLMResult } from "@langchain/core/outputs";
import { isGraphBubbleUp } from "@langchain/langgraph";
import { attempt } from "../../errors.ts";
import { OWNER_KEY, COMPLETION_REFUSAL, type CompletionRefusal } from "../../middleware/plan/index.ts";
import { usedTokens } from "../../middleware/prices/index.ts";
import { CALL_REPETITION, type CallRepetition } from "../../middleware/repeats/index.ts";
import { shortened } from "../../middleware/text/index.ts";
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
import { failuresIn } from "../../subagents/index.ts";
import { boundedArgs, boundedText, type RunEventBody } from "../events/index.ts";
import type { Question } from "../questions/index.ts";
import { resultsOf } from "../thread/index.ts";
import { MAIN } from "../view/index.ts";
import { textArguments } from "./text-arguments.ts";

/** A model's or a tool's run, from its start to its end. */
interface Started {
  owner: string;
  /** A call that is the harness's own, such as a summary. */
  isHidden: boolean;
  /** Takes the thinking out of a model's text as it comes. */
  shown: (piece: string) => Shown;
  tool?: ToolDetails;
}

/** Fields of every event of a tool call. */
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

type Metadata = Record<string, unknown> | undefined;

/** Turns LangChain's callbacks of a run, also those of sub-agents, into events. `signal` is what aborts the run. */
export class Recorder extends BaseCallbackHandler {
  name = "holdfast-recorder";
  /** Asks models to stream, as LangGraph's own handlers do. */
  readonly lc_prefer_streaming: boolean;
  override awaitHandlers = true;
  // Every node of a graph is one, or several: LangChain would call for each, and nothing is made of it.
  override ignoreChain = true;
  readonly #emit: (event: RunEventBody) => void;
  readonly #signal: AbortSignal;
  readonly #runs = new Map<string, Started>();
  /** The last answers of each owner with calls that could not be read, and with others, until all is known of them. */
  readonly #unread = new Map<string, AIMessage>();
  readonly #called = new Map<string, ToolCall[]>();
  /** The calls that were made. */
  readonly #made = new Set<string>();
  /** Calls that may be repetitions, until they are run. */
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

  /** A call that waits for a person: another process may have recorded the answer that it is in. */
  expect({ owner, call: id, name, args }: NonNullable<Question["call"]>): void {
    const calls = this.#called.get(owner) ?? [];
    if (!calls.some((call) => call.id === id)) this.#called.set(owner, [...calls, { id, name, args }]);
  }

  /** Tells of calls that were answered and never made: of a tool that does not exist, or refused by a person. */
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
    this.#emit({ type: "model-start", owner: run.owner, ...(reminders.length > 0 && { reminders }) });
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
    if (name !== MODEL_RETRY) return;
    const { seconds, reason } = data as ModelRetry;
    this.#emit({ type: "model-retry", owner, seconds, reason });
  }

  /** A call that may be a repetition is run next, or was answered for the model. */
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
    const { text: shown, anew } = run.shown(text);
    if (shown) this.#emit({ type: "text", owner: run.owner, text: shown, ...(anew && { anew }) });
  }

  override handleLLMEnd({ generations }: LLMResult, runId: string): void {
    const run = this.#take(runId);
    const generation = generations[0]?.[0] as { message?: unknown } | undefined;
    const message = generation?.message;
    if (!run || !AIMessage.isInstance(message)) return;
    if (!run.isHidden && message.invalid_tool_calls?.length) this.#unread.set(run.owner, message);
    if (!run.isHidden && message.tool_calls?.length) this.#called.set(run.owner, [...message.tool_calls]);
    const said = run.isHidden ? { text: "" } : saidIn(message);
    this.#emit({ type: "model-end", owner: run.owner, ...said, usage: usedTokens(message) });
  }

  override handleLLMError(_error: unknown, runId: string): void {
    this.#take(runId);
  }

  override handleToolStart(...args: Parameters<NonNullable<BaseCallbackHandler["handleToolStart"]>>): void {
    const [tool, input, runId, , tags, metadata, runName, callId] = args;
    const run = started(tags, metadata);
    const call = callId ?? runId;
    const isRepeated = this.#repeated.delete(call);
    const known = detailsOf({ name: runName ?? tool.id.at(-1) ?? "tool", call, input });
    const details: ToolDetails = { ...known, ...(isRepeated && { repeated: true }) };
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
    // An interrupt stops a tool half way: it has not failed, and it has not ended.
    if (isGraphBubbleUp(error)) this.#take(runId);
    else if (this.#signal.aborted) this.#stop(runId);
    else this.#endTool(runId, { ok: false, result: error instanceof Error ? error.message : String(error) });
  }

  /** Says what became of everything that is still open when a run ends. */
  finish(): void {
    for (const owner of this.#unread.keys()) this.#settleUnread(owner);
    if (this.#signal.aborted) for (const runId of this.#runs.keys()) this.#stop(runId);
  }

  /** Ctrl-C ends a command. Another tool has not failed then: it may go on for a while, and has not ended. */
  #stop(runId: string): void {
    const isCommand = this.#runs.get(runId)?.tool?.name === COMMAND;
    if (isCommand) this.#endTool(runId, { ok: false, result: "Stopped.", exitCode: null });
    else this.#take(runId);
  }

  #endTool(runId: string, result: ToolResult): void {
    const run = this.#take(runId);
    if (run?.tool) this.#emit({ type: "tool-end", owner: run.owner, ...run.tool, ...ended(result) });
  }

  /** Calls whose arguments could not be read, after whoever repairs some has done so in the message. */
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
    this.#emit({ type: "tool-end", owner, ...details, ...ended(result) });
  }

  #take(runId: string): Started | undefined {
    const run = this.#runs.get(runId);
    this.#runs.delete(runId);
    return run;
  }
}

function started(tags: string[] | undefined, metadata: Metadata): Started {
  return { ...callerOf(tags, metadata), shown: thoughtFilter() };
}

/** The words of an answer, and the thoughts before them. */
export function saidIn(message: AIMessage): { text: string; thoughts?: string } {
  const thoughts = allThoughts(message);
  return { text: withoutThoughts(message.text), ...(thoughts && { thoughts: boundedText(thoughts) }) };
}

/** The caller of a model or a tool, and whether the call is the harness's own. */
export function callerOf(
  tags: string[] | undefined,
  metadata: Metadata,
): Pick<Started, "owner" | "isHidden"> {
  const owner = metadata?.[OWNER_KEY];
  const isHidden =
    (tags ?? []).some((tag) => tag.endsWith("nostream")) || metadata?.["lc_source"] === "summarization";
  return { owner: typeof owner === "string" ? owner : MAIN, isHidden };
}

export function detailsOf({ name, call, input }: { name: string; call: string; input: string }): ToolDetails {
  return { name, call, about: aboutCall(input), args: boundedArgs(input) };
}

export function ended({ ok, result, exitCode, verdict }: ToolResult) {
  const output = boundedText(result);
  return {
    ok,
    result: cut(result.trim().split("\n", 1)[0] ?? ""),
    output,
    ...(exitCode !== undefined && { exitCode }),
    ...(verdict && { verdict }),
  };
}

/** The result in a message. A command that failed is no error to the model: it did what the model asked for. */
export function resultOf(message: ToolMessage): ToolResult {
  const failure = failedCommand(message);
  if (failure) return { ok: false, result: message.text, exitCode: failure.exitCode };
  const verdict = failuresIn(message)[message.tool_call_id]?.result ?? "done";
  if (verdict !== "done") return { ok: false, result: message.text, verdict };
  return { ok: message.status !== "error", result: message.text };
}

/** The names of the reminders at the end of a request: others stayed from an earlier one. */
export function remindersIn(messages: readonly BaseMessage[]): string[] {
  const said = messages.findLastIndex(({ type }) => type === "ai" || type === "tool");
  return messages
    .slice(said + 1)
    .flatMap(({ name, additional_kwargs }) =>
      name?.endsWith("_reminder") && additional_kwargs["hide_from_ui"] === true ? [name] : [],
    );
}

const MOST = 120;

/** The telling part of a tool call's arguments: what people want to know of it in a list. */
function aboutCall(input: string): string {
  const args = attempt((): unknown => JSON.parse(input));
  if (typeof args !== "object" || args === null) return cut(input);
  const texts = textArguments(args as Record<string, unknown>);
  return cut(texts.length > 0 ? texts.slice(0, 2).join(" ") : input);
}

function cut(text: string): string {
  return shortened(text, MOST);
}
