import type { AIMessage, BaseMessage, ToolMessage } from "@langchain/core/messages";
import { isLangChainTool } from "@langchain/core/utils/function_calling";
import { toJsonSchema, type JSONSchema } from "@langchain/core/utils/json_schema";
import type { Change, Todo } from "../../plan/index.ts";
import { setCalls } from "./broken-calls.ts";
import { readPlanState, todosUpdate, type MemoryUpdate } from "./state.ts";
import { rememberOutcome, type Turns } from "./turn.ts";

/** The argument of work tools in which a model says what it has finished. */
export const DONE_ARGUMENT = "todo_done";

interface NamedTool {
  name: string;
  schema: Parameters<typeof toJsonSchema>[0];
}

/** Made once per tool: what a model is sent must be the same in every request. */
const extended = new WeakMap<object, object>();

/**
 * Tools as the model sees them, with the argument for what is done. A tool that has one of that name, the plan's own
 * tools and those that a provider runs itself stay as they are. The tools that are run are not touched.
 */
export function withDoneArgument(
  tools: readonly unknown[],
  planTools: readonly string[],
  settings: { strict?: boolean } = {},
): readonly unknown[] {
  // In strict mode every argument of a tool must be given.
  if (settings.strict) return tools;
  return tools.map((tool) => {
    if (typeof tool !== "object" || !isLangChainTool(tool)) return tool;
    const { name, schema } = tool as NamedTool;
    if (planTools.includes(name)) return tool;
    const known = extended.get(tool) ?? extend(tool, toJsonSchema(schema));
    extended.set(tool, known);
    return known;
  });
}

function extend(tool: object, schema: JSONSchema): object {
  const { type, properties = {} } = schema as { type?: unknown; properties?: Record<string, unknown> };
  if (type !== "object" || DONE_ARGUMENT in properties) return tool;
  const shown = { ...schema, properties: { ...properties, [DONE_ARGUMENT]: { type: "string" } } };
  return Object.create(tool, { schema: { value: shown, enumerable: true } }) as object;
}

/** What a message keeps of the reports in its calls. */
interface Kept {
  /** What the calls said is done, by their places in the message: they themselves no longer say it. */
  said: Record<number, unknown>;
  /** Why something of it was refused. */
  refused?: string;
}

const keptBy = (message: BaseMessage): Kept | undefined =>
  message.type === "ai" ? (message.response_metadata[DONE_ARGUMENT] as Kept | undefined) : undefined;

function keep(message: AIMessage, kept: Kept): void {
  message.response_metadata = { ...message.response_metadata, [DONE_ARGUMENT]: kept };
}

/**
 * Takes the reports out of a message's calls to these tools, so that tools, approvals and views get the calls they
 * know. The message keeps them for `withReports`. In place, as LangChain keeps the message that the model gave.
 */
export function takeReports(message: AIMessage, tools: ReadonlySet<string>): unknown[] {
  const { tool_calls = [], invalid_tool_calls = [] } = message;
  const said: Kept["said"] = {};
  const calls = tool_calls.map((call, at) => {
    if (!tools.has(call.name) || !(DONE_ARGUMENT in call.args)) return call;
    const { [DONE_ARGUMENT]: done, ...args } = call.args;
    said[at] = done;
    return { ...call, args };
  });
  if (Object.keys(said).length === 0) return [];
  setCalls(message, { tool_calls: calls, invalid_tool_calls });
  keep(message, { said });
  return Object.values(said).flatMap((done) => (isNothing(done) ? [] : done));
}

/** What models send that have nothing to report and believe that they must send something. */
function isNothing(done: unknown): boolean {
  return done === null || (typeof done === "string" && /^(?:none|null|n\/a|-)?$/i.test(done.trim()));
}

/** What the reports of a message change. */
export interface InlineReport {
  changes: Change[];
  todos: readonly Todo[];
  update: { todos: Todo[]; _plan: MemoryUpdate };
}

/**
 * Evaluates the reports of a message by the rules for a plan call, before its calls are run. Undefined where nothing
 * changes; what is refused, the message keeps for `withReports`.
 */
export async function applyReports(
  turns: Turns,
  message: AIMessage,
  {
    done,
    tool,
    state,
    signal,
  }: { done: unknown[]; tool: string; state: object; signal: AbortSignal | undefined },
): Promise<InlineReport | undefined> {
  // It is in no message, and so a turn of its own.
  const call = { id: DONE_ARGUMENT, name: tool, args: { done } };
  const outcome = await turns.evaluate(call, state, signal);
  const { accepted, issues, plan } = outcome;
  // The engine speaks of the field that a plan call would have.
  const refused = issues.map((issue) => issue.message.replace(/^done:/, `${DONE_ARGUMENT}:`)).join("\n");
  if (refused !== "") keep(message, { ...keptBy(message)!, refused });
  if (!accepted || accepted.changes.length === 0) return undefined;
  const todos = todosUpdate(plan.todos, accepted.patch);
  const _plan = rememberOutcome(outcome, readPlanState(state).memory.seen);
  return { changes: accepted.changes, todos: plan.todos, update: { todos, _plan } };
}

/**
 * Messages as the model is to see them: its calls as it made them, and behind the result of the first one that
 * reported, what was refused.
 */
export function withReports(messages: readonly BaseMessage[], tag: string): BaseMessage[] {
  const refused = new Map<string, string>();
  return messages.map((message) => {
    const kept = keptBy(message);
    if (kept) {
      const { tool_calls = [] } = message as AIMessage;
      const [first] = Object.keys(kept.said);
      refused.clear();
      if (kept.refused !== undefined) refused.set(tool_calls[Number(first)]?.id ?? "", kept.refused);
      return changed(message, () => ({
        tool_calls: tool_calls.map((call, at) => withReport(call, at, kept)),
      }));
    }
    const text = message.type === "tool" ? refused.get((message as ToolMessage).tool_call_id) : undefined;
    if (text === undefined) return message;
    return changed(message, () => withSaid(message.content, `<${tag}>${text}</${tag}>`));
  });
}

function withSaid(content: BaseMessage["content"], text: string): Pick<BaseMessage, "content"> {
  if (typeof content === "string") return { content: `${content}\n\n${text}` };
  return { content: [...content, { type: "text", text }] };
}

type ToolCall = NonNullable<AIMessage["tool_calls"]>[number];

function withReport(call: ToolCall, at: number, { said }: Kept): ToolCall {
  return at in said ? { ...call, args: { ...call.args, [DONE_ARGUMENT]: said[at] } } : call;
}

/** Made once: a long thread has many such messages, in every request. */
const copies = new WeakMap<BaseMessage, BaseMessage>();

/** A copy with other fields: the message itself belongs to the state. */
function changed(message: BaseMessage, fields: () => object): BaseMessage {
  const known = copies.get(message);
  if (known) return known;
  const copy = Object.create(Object.getPrototypeOf(message) as object) as BaseMessage;
  copies.set(message, Object.assign(copy, message, fields()));
  return copy;
}
