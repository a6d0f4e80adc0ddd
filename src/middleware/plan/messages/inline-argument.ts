import type { AIMessage, BaseMessage, ToolMessage } from "@langchain/core/messages";
import { isLangChainTool } from "@langchain/core/utils/function_calling";
import { toJsonSchema } from "@langchain/core/utils/json_schema";
import { markMetadata, metadataMark } from "../../../marks.ts";
import { setCalls, copyOf, withText } from "../../tools/index.ts";

/** The argument of work tools in which the model reports what it has finished. */
export const DONE_ARGUMENT = "todo_done";

type ToolCall = NonNullable<AIMessage["tool_calls"]>[number];

/** A completion that a work call reported. */
export interface Report {
  /** The id of the call, from which the report was removed. */
  id?: string;
  name: string;
  said: unknown;
  /** The item that the call itself is for, if it has an argument for that. */
  worksOn?: string;
  /** The reply to the model, added to the result of the call. */
  reply?: string;
  /** The short reply to a report without issues or notes. */
  confirmed?: string;
  isRefused?: boolean;
  /** Whether the reply contains the whole plan. */
  showsPlan?: boolean;
}

interface ShownTool {
  tool: unknown;
  /** Whether the tool has its own argument with that name. */
  isTaken: boolean;
}

/** Tools as the model sees them. Computed once per tool, so that every request is the same. */
const shownTools = new WeakMap<object, ShownTool>();

/**
 * Adds the argument for reports to tools as the model sees them. Leaves out the plan's tools, those that a provider
 * runs, and those whose arguments are not an object. The tools that are run stay unchanged.
 */
export function withDoneArgument(tools: readonly unknown[], planTools: readonly string[]): unknown[] {
  return tools.map((tool) => shownForm(tool, planTools).tool);
}

function shownForm(tool: unknown, planTools: readonly string[]): ShownTool {
  const unchanged = { tool, isTaken: false };
  if (typeof tool !== "object" || tool === null || !isLangChainTool(tool)) return unchanged;
  const { name, schema } = tool as { name: string; schema: Parameters<typeof toJsonSchema>[0] };
  if (planTools.includes(name)) return unchanged;
  const form = shownTools.get(tool) ?? withArgument(tool, toJsonSchema(schema));
  shownTools.set(tool, form);
  return form;
}

function withArgument(tool: object, schema: object): ShownTool {
  const { type, properties = {} } = schema as { type?: unknown; properties?: Record<string, unknown> };
  if (type !== "object" || DONE_ARGUMENT in properties) {
    return { tool, isTaken: DONE_ARGUMENT in properties };
  }
  const shown = { ...schema, properties: { ...properties, [DONE_ARGUMENT]: { type: "string" } } };
  return { tool: Object.create(tool, { schema: { value: shown, enumerable: true } }), isTaken: false };
}

/**
 * Takes the reports out of a message's work calls, so that tools, approvals and views get ordinary calls. Includes
 * calls to tools without the argument, because the prompt asks for it. Changes the message: LangChain keeps the model's
 * message object.
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

/** Saves reports in the metadata of their message, for `withReports`. Changes the message. */
export function keepReports(message: AIMessage, reports: readonly Report[]): void {
  markMetadata(message, { todo_done: reports });
}

/** The reports in the metadata of a message. */
export function reportsIn(message: BaseMessage): readonly Report[] {
  const reports: unknown = message.type === "ai" ? metadataMark(message, "todo_done") : undefined;
  return Array.isArray(reports) ? (reports as Report[]) : [];
}

/** The messages for the model: its calls with the reports, and the replies to reports after the calls' results. */
export function withReports(messages: readonly BaseMessage[], tag: string): BaseMessage[] {
  let open: Report[] = [];
  return messages.map((message) => {
    if (message.type === "ai") {
      const reports = reportsIn(message);
      open = reports.filter(({ reply, confirmed }) => (reply ?? confirmed) !== undefined);
      return reports.length > 0 ? copyOf(message, { tool_calls: asCalled(message, [...reports]) }) : message;
    }
    if (message.type !== "tool" || open.length === 0) return message;
    const { reply, confirmed } = takeReport(open, (message as ToolMessage).tool_call_id) ?? {};
    const text = reply === undefined ? confirmed && `[${confirmed}]` : `<${tag}>${reply}</${tag}>`;
    return text === undefined ? message : withText(message, text);
  });
}

/** The calls of a message with their reports. Another middleware may have reordered the calls. */
function asCalled(message: BaseMessage, reports: Report[]): ToolCall[] {
  return ((message as AIMessage).tool_calls ?? []).map((call) => {
    const report = takeReport(reports, call.id, call.name);
    return report ? { ...call, args: { ...call.args, [DONE_ARGUMENT]: report.said } } : call;
  });
}

/** Removes the first report of a call from a list and returns it: some models use an id twice. */
function takeReport(reports: Report[], id: string | undefined, name?: string): Report | undefined {
  const at = reports.findIndex((one) => one.id === id && (name === undefined || one.name === name));
  return at < 0 ? undefined : reports.splice(at, 1)[0];
}
