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

/** A job as the model hands it out. */
export interface Job {
  description: string;
  subagent_type: string;
  todo_id?: string | undefined;
  /** The name that people know its sub-agent by. */
  title?: string | undefined;
  /** The id of the sub-agent that is asked again. */
  again?: string | undefined;
}

/** The state that a sub-agent starts with: a part of its caller's. */
export interface Given {
  messages: BaseMessage[];
  files?: Record<string, string>;
  [field: string]: unknown;
}

type Caller = { messages?: BaseMessage[]; files?: Record<string, string> } & Record<string, unknown>;

/** Where a sub-agent's start comes from. */
interface Origin {
  /** The caller's state. */
  state: unknown;
  /** The tool call that started it. */
  call: string;
  /** Its conversation so far, where it is asked again. */
  before?: readonly BaseMessage[] | undefined;
  /** The caller's plan, as the call finds it. */
  standing?: Pick<Standing, "plan" | "rules"> | undefined;
}

/** Makes what a sub-agent starts with. */
export function givenTo(
  { fork = false, stateFields = [] }: CompiledSubagent,
  { description }: Job,
  origin: Origin,
): Given {
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

/** The conversation of a sub-agent that has ended, from its last checkpoint. */
export async function conversationAt(
  ns: string,
  { configurable = {} }: ToolRuntime,
): Promise<BaseMessage[] | undefined> {
  const { thread_id } = configurable;
  const place = { configurable: { thread_id, checkpoint_ns: ns } };
  const last = await checkpointerOf(configurable)?.getTuple(place);
  return last?.checkpoint.channel_values["messages"] as BaseMessage[] | undefined;
}

/** A brief with the rules of the caller's plan, which hold for the whole task. */
function withRules(description: string, { state, standing }: Origin): string {
  const found = readPlanState(state);
  const { todos } = standing?.plan ?? found;
  const rules = standing?.rules ?? found.rules ?? [];
  if (rules.length === 0 || !todos.some(isOpen)) return description;
  return `${description}\n\n${RULES_FOR_ALL}\n${renderRules(rules)}`;
}

/** The conversation up to the turn that made a call, which has no result yet. */
function historyBefore(call: string, messages: readonly BaseMessage[]): readonly BaseMessage[] {
  const turn = turnOf(messages, call);
  return turn ? messages.slice(0, messages.indexOf(turn)) : messages;
}

/** The update of the caller's state with what a sub-agent has made of what it was given. */
export function broughtBack(
  { ownsFiles = false, stateFields = [] }: CompiledSubagent,
  given: Given,
  after: Partial<Given>,
): Record<string, unknown> {
  const shared = stateFields.flatMap((field) => {
    const change = changeOf(given[field], after[field]);
    return change === undefined ? [] : [[field, change] as const];
  });
  const { files: before = {} } = given;
  return {
    ...Object.fromEntries(shared),
    // An agent of ours returns all its files, so what is missing was deleted; another's files are additions.
    ...(after.files && { files: diffFiles(before, ownsFiles ? after.files : { ...before, ...after.files }) }),
  };
}

/** The new part of a value: the end of a list, the entries of a record, else all of it. */
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
