import {
  AIMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
  type BaseMessage,
} from "@langchain/core/messages";
import { markOf, metadataOf } from "../../marks.ts";

/** A tool call to make. */
export interface Call {
  name: string;
  args: Record<string, unknown>;
}

/** A finished tool call. */
export interface FinishedCall extends Call {
  result: string;
  failed: boolean;
}

/** A text for the user, tool calls, or both. */
export type Answer = string | Call[] | { text: string; calls: Call[] };

/** An item of the plan in the state of the graph. */
export interface Item {
  id: string;
  content: string;
  status: string;
  dependsOn?: readonly string[];
}

/** The last request, the calls since then, and the current plan. */
export interface Conversation {
  request: string;
  system: string;
  calls: FinishedCall[];
  todos: readonly Item[];
  /** The number of the model's messages since the request. */
  turns: number;
  /** True if a summary replaced the request. */
  isSummarized: boolean;
  /** True if the model has already answered and was told to go on. */
  calledBack: boolean;
  /** Finds the last finished call with this name and these arguments. */
  findCall: (call: Call) => FinishedCall | undefined;
}

/** The maximum number of parallel calls: Node warns of a leak if more wait for one signal. */
export const AT_ONCE = 8;

export function call(name: string, args: Record<string, unknown>): Call {
  return { name, args };
}

/** Reads a model request, from the user's last message on. */
export function readConversation(
  messages: readonly BaseMessage[],
  todos: readonly Item[] = [],
): Conversation {
  const start = messages.findLastIndex((message) => isRequest(message) && !isContinuation(message));
  const since = messages.slice(start + 1);
  const calls = finishedCalls(since);
  const byKey = new Map(calls.map((one) => [keyOf(one), one]));
  const last = since.findLastIndex((message) => AIMessage.isInstance(message));
  const isAsked = since.slice(last + 1).some((message) => HumanMessage.isInstance(message));
  return {
    request: messages[start]?.text.trim() ?? "",
    system: messages.find((message) => SystemMessage.isInstance(message))?.text ?? "",
    calls,
    todos,
    turns: since.filter((message) => AIMessage.isInstance(message)).length,
    isSummarized: start < 0 && messages.some(isSummary),
    calledBack: last >= 0 && isAnswer(since[last]!) && isAsked,
    findCall: (one) => byKey.get(keyOf(one)),
  };
}

function finishedCalls(messages: readonly BaseMessage[]): FinishedCall[] {
  interface Entry {
    call: Call;
    reply?: ToolMessage;
  }
  const entries: Entry[] = [];
  // Some models reuse call ids: a reply belongs to the last call with its id.
  const byId = new Map<string, Entry>();
  for (const message of messages) {
    if (AIMessage.isInstance(message)) {
      for (const { name, args, id = "" } of message.tool_calls ?? []) {
        const entry: Entry = { call: { name, args } };
        entries.push(entry);
        byId.set(id, entry);
      }
    } else if (ToolMessage.isInstance(message)) {
      const entry = byId.get(message.tool_call_id);
      if (entry) entry.reply = message;
    }
  }
  return entries.flatMap(({ call: one, reply }) =>
    reply && !wasCutShort(reply) ? { ...one, result: reply.text, failed: reply.status === "error" } : [],
  );
}

function callsTools(message: BaseMessage): boolean {
  return AIMessage.isInstance(message) && (message.tool_calls ?? []).length > 0;
}

/** An ordinary answer. A refusal, or a message by which the harness ends a run, has a `finish_reason`. */
function isAnswer(message: BaseMessage): boolean {
  const hasReason = metadataOf(message)["finish_reason"] !== undefined;
  return AIMessage.isInstance(message) && !callsTools(message) && !hasReason;
}

/** A message of the user: not a reminder of the harness, and not a summary. */
function isRequest(message: BaseMessage): boolean {
  const isHidden = markOf(message, "hide_from_ui") === true;
  return HumanMessage.isInstance(message) && !isHidden && markOf(message, "lc_source") === undefined;
}

function isSummary(message: BaseMessage): boolean {
  return markOf(message, "lc_source") === "summarization";
}

function isContinuation(message: BaseMessage): boolean {
  return /^\s*(?:please\s+)?(?:go on|continue|resume|proceed)\b[^\n]{0,40}$/i.test(message.text);
}

function wasCutShort(reply: ToolMessage): boolean {
  return reply.status === "error" && /^Not (?:finished|run): /.test(reply.text);
}

function keyOf({ name, args }: Call): string {
  return JSON.stringify([name, args]);
}
