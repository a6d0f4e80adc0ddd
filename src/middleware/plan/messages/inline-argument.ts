import type { AIMessage, BaseMessage, ToolMessage } from "@langchain/core/messages";
import { isLangChainTool } from "@langchain/core/utils/function_calling";
import { toJsonSchema } from "@langchain/core/utils/json_schema";
import { setCalls, copyOf, withText } from "../../tools/index.ts";

/** The argument of work tools in which a model says what it has finished. */
export const DONE_ARGUMENT = "todo_done";

type ToolCall = NonNullable<AIMessage["tool_calls"]>[number];

/** A completion that a work call reported. */
export interface Report {
  /** The call, which no longer says it. */
  id?: string;
  name: string;
  said: unknown;
  /** The item that the call itself is for, where its tool has an argument for that. */
  worksOn?: string;
  /** The reply to the model, with the result of the call. */
  reply?: string;
  /** The reply to a report that there is nothing to say of, in a word. */
  confirmed?: string;
  isRefused?: boolean;
  /** The reply has the whole plan in it. */
  showsPlan?: boolean;
}

interface Shown {
  tool: unknown;
  /** The tool has an argument of its own with that name. */
  isTaken: boolean;
}

/** Found once per tool: what a model is sent must be the same in every request. */
const known = new WeakMap<object, Shown>();

/**
 * Tools as the model sees them, with the argument for what is done. The plan's own, those that a provider runs itself,
 * and those whose arguments are not simply an object stay as they are. The tools that are run are not touched.
 */
export function withDoneArgument(tools: readonly unknown[], planTools: readonly string[]): unknown[] {
  return tools.map((tool) => shownForm(tool, planTools).tool);
}

function shownForm(tool: unknown, planTools: readonly string[]): Shown {
  const same = { tool, isTaken: false };
  if (typeof tool !== "object" || tool === null || !isLangChainTool(tool)) return same;
  const { name, schema } = tool as { name: string; schema: Parameters<typeof toJsonSchema>[0] };
  if (planTools.includes(name)) return same;
  const form = known.get(tool) ?? extended(tool, toJsonSchema(schema));
  known.set(tool, form);
  return form;
}

function extended(tool: object, schema: object): Shown {
  const { type, properties = {} } = schema as { type?: unknown; properties?: Record<string, unknown> };
  if (type !== "object" || DONE_ARGUMENT in properties) {
    return { tool, isTaken: DONE_ARGUMENT in properties };
  }
  const shown = { ...schema, properties: { ...properties, [DONE_ARGUMENT]: { type: "string" } } };
  return { tool: Object.create(tool, { schema: { value: shown, enumerable: true } }), isTaken: false };
}

/**
 * Takes the reports out of a message's work calls, so that tools, approvals and views get the calls they know; also
 * out of calls to tools that were not shown with the argument, as the prompt asks for it. In place: LangChain keeps the
 * message that the model gave.
 */
export function takeReports(
  message: AIMessage,
  { tools, planTools }: { tools: readonly unknown[]; planTools: readonly string[] },
): Report[] {
  const others = tools.filter((tool) => shownForm(tool, planTools).isTaken) as { name: string }[];
  const own = new Set([...planTools, ...others.map(({ name }) => name)]);
  const { tool_calls = [], invalid_tool_calls = [] } = message;
  const reports: Report[] = [];
  const calls = tool_calls.map((call) => {
    if (own.has(call.name) || !(DONE_ARGUMENT in call.args)) return call;
    const { [DONE_ARGUMENT]: said, ...args } = call.args;
    const { id, name } = call;
    reports.push({
      name,
      said,
      ...(id !== undefined && { id }),
      ...(typeof args["todo_id"] === "string" && { worksOn: args["todo_id"] }),
    });
    return { ...call, args };
  });
  if (reports.length > 0) setCalls(message, { tool_calls: calls, invalid_tool_calls });
  return reports;
}

/** Leaves reports with the message that they were taken from, for `withReports`. In place, too. */
export function keepReports(message: AIMessage, reports: readonly Report[]): void {
  message.response_metadata = { ...message.response_metadata, [DONE_ARGUMENT]: reports };
}

/** The reports that were left with a message. */
export function reportsIn(message: BaseMessage): readonly Report[] {
  const kept: unknown = message.type === "ai" ? message.response_metadata?.[DONE_ARGUMENT] : undefined;
  return Array.isArray(kept) ? (kept as Report[]) : NONE;
}

const NONE: readonly Report[] = [];

/** Messages as the model is to see them: its calls as it made them, and replies to reports behind their results. */
export function withReports(messages: readonly BaseMessage[], tag: string): BaseMessage[] {
  let open: Report[] = [];
  return messages.map((message) => {
    if (message.type === "ai") {
      const reports = reportsIn(message);
      open = reports.filter(({ reply, confirmed }) => (reply ?? confirmed) !== undefined);
      return reports.length > 0 ? copyOf(message, { tool_calls: asCalled(message, [...reports]) }) : message;
    }
    if (message.type !== "tool" || open.length === 0) return message;
    const { reply, confirmed } = taken(open, (message as ToolMessage).tool_call_id) ?? {};
    const text = reply === undefined ? confirmed && `[${confirmed}]` : `<${tag}>${reply}</${tag}>`;
    return text === undefined ? message : withText(message, text);
  });
}

/** The calls of a message with what they reported. Another middleware may have put them into another order. */
function asCalled(message: BaseMessage, reports: Report[]): ToolCall[] {
  return ((message as AIMessage).tool_calls ?? []).map((call) => {
    const report = taken(reports, call.id, call.name);
    return report ? { ...call, args: { ...call.args, [DONE_ARGUMENT]: report.said } } : call;
  });
}

/** Takes the first report of a call out of a list: some models use an id twice. */
function taken(reports: Report[], id: string | undefined, name?: string): Report | undefined {
  const at = reports.findIndex((one) => one.id === id && (name === undefined || one.name === name));
  return at < 0 ? undefined : reports.splice(at, 1)[0];
}
