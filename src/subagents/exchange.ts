import { isDeepStrictEqual } from "node:util";
import { HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { diffFiles } from "../files/backends/index.ts";
import { checkpointerOf } from "../langgraph/index.ts";
import { type Standing, readPlanState } from "../middleware/plan/index.ts";
import { type ToolRuntime, turnOf } from "../middleware/tools/index.ts";
import { isOpen } from "../plan/index.ts";
import { renderRules } from "../plan/render/index.ts";
import type { CompiledSubagent } from "./spec.ts";
import { RULES_FOR_ALL } from "./task.prompt.ts";

/** A job as the model describes it. */
export interface Job {
  description: string;
  subagent_type: string;
  todo_id?: string;
  /** The name of its sub-agent for users. */
  title?: string;
  /** The id of the sub-agent that is asked again. */
  again?: string;
}

/** The initial state of a sub-agent, a part of its caller's. */
export interface StartState {
  messages: BaseMessage[];
  files?: Record<string, string>;
  [field: string]: unknown;
}

type Caller = { messages?: BaseMessage[]; files?: Record<string, string> } & Record<string, unknown>;

/** The sources of a sub-agent's initial state. */
interface Origin {
  /** The caller's state. */
  state: unknown;
  /** The tool call that started it. */
  call: string;
  /** The conversation so far of a sub-agent that is asked again. */
  before?: readonly BaseMessage[];
  /** The caller's plan with the effect of earlier calls of the turn. Default: the plan in the state. */
  standing?: Pick<Standing, "plan" | "rules">;
}

/** Creates the initial state of a sub-agent. */
export function startStateFor(
  { fork = false, stateFields = [] }: CompiledSubagent,
  { description }: Job,
  origin: Origin,
): StartState {
  const { state, call, before } = origin;
  const caller = (state ?? {}) as Caller;
  const { files } = caller;
  const shared = stateFields.flatMap((field) =>
    caller[field] === undefined ? [] : [[field, caller[field]] as const],
  );
  return {
    ...Object.fromEntries(shared),
    messages: [
      ...(before ?? (fork ? historyBefore(call, caller.messages ?? []) : [])),
      new HumanMessage(fork ? description : withRules(description, origin)),
    ],
    ...(files && { files }),
  };
}

/** The conversation of an ended sub-agent, from its last checkpoint. */
export async function conversationAt(
  ns: string,
  { configurable = {} }: ToolRuntime,
): Promise<BaseMessage[] | undefined> {
  const { thread_id } = configurable;
  const place = { configurable: { thread_id, checkpoint_ns: ns } };
  const last = await checkpointerOf(configurable)?.getTuple(place);
  return last?.checkpoint.channel_values["messages"] as BaseMessage[] | undefined;
}

/** Adds the rules of the caller's plan to a description: they hold for the whole task. */
function withRules(description: string, { state, standing }: Origin): string {
  const saved = readPlanState(state);
  const { todos } = standing?.plan ?? saved;
  const rules = standing?.rules ?? saved.rules ?? [];
  if (rules.length === 0 || !todos.some(isOpen)) return description;
  return `${description}\n\n${RULES_FOR_ALL}\n${renderRules(rules)}`;
}

/** The conversation before the message with a call, which has no result yet. */
function historyBefore(call: string, messages: readonly BaseMessage[]): readonly BaseMessage[] {
  const turn = turnOf(messages, call);
  return turn ? messages.slice(0, messages.indexOf(turn)) : messages;
}

/** The update of the caller's state by the changes between a sub-agent's initial and final state. */
export function stateUpdate(
  { ownsFiles = false, stateFields = [] }: CompiledSubagent,
  start: StartState,
  after: Partial<StartState>,
): Record<string, unknown> {
  const shared = stateFields.flatMap((field) => {
    const change = changeOf(start[field], after[field]);
    return change === undefined ? [] : [[field, change] as const];
  });
  const { files: before = {} } = start;
  return {
    ...Object.fromEntries(shared),
    // With `ownsFiles`, missing files were deleted; otherwise returned files are additions.
    ...(after.files && { files: diffFiles(before, ownsFiles ? after.files : { ...before, ...after.files }) }),
  };
}

/** The change of a value: the items added to a list, the changed entries of a record, else the new value. */
function changeOf(before: unknown, after: unknown): unknown {
  if (after === undefined || isDeepStrictEqual(before, after)) return undefined;
  if (Array.isArray(before) && Array.isArray(after)) {
    const isLonger = isDeepStrictEqual(after.slice(0, before.length), before);
    return isLonger ? after.slice(before.length) : after;
  }
  if (!isPlain(before) || !isPlain(after)) return after;
  return Object.fromEntries(
    Object.entries(after).filter(([key, value]) => !isDeepStrictEqual(before[key], value)),
  );
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
