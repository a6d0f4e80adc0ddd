import { coerceMessageLikeToMessage, type BaseMessage } from "@langchain/core/messages";
import { Command, Send, type StateSnapshot } from "@langchain/langgraph";
import type { RunRecord } from "../../../storage/index.ts";
import { answersById, isKeyed, waitingOf } from "../../run/index.ts";
import { writable, type HostedGraph } from "../graphs.ts";
import type { Begun } from "./attendance.ts";
import type { CheckpointPlace, RunRequest } from "./request.ts";

type Values = Record<string, unknown>;
/** Keeps only the values that a client may write. */
type Allowed = (values: Values) => Values;

export interface Beginning {
  input: object | null;
  checkpoint?: CheckpointPlace;
  task?: string;
  /** Answers to questions, by id. */
  answers: Record<string, unknown>;
}

export interface BeginningOptions extends Begun {
  graph: HostedGraph;
  state: StateSnapshot;
  /** Whether an earlier attempt has started the run. */
  isAgain: boolean;
}

/** The start of a run, from its request and the state of its thread. */
export async function beginning(
  record: RunRecord,
  { graph, ready, thread, state, isAgain }: BeginningOptions,
): Promise<Beginning> {
  const request = record.request as RunRequest;
  const checkpoint = checkpointOf(request, state);
  const where = checkpoint ? { checkpoint } : {};
  if (isAgain && hasBegun(record, state)) return { input: null, answers: {} };
  const allowed: Allowed = (values) => writable(values, { graph, agent: ready.agent });
  if (request.command) return { ...commandOf(request, { state, checkpoint, allowed }), ...where };
  const input = allowed(request.input ?? {});
  if (Object.keys(input).length === 0) return { input: null, answers: {}, ...where };
  const task = request.task ?? taskOf(input);
  const [question, ...others] =
    request.isNewTurn || checkpoint || task === undefined ? [] : await thread.questions(state);
  const isAnswer = question?.kind === "clarification" && others.length === 0;
  const more = await graph.begin?.({ thread, ready }, { task, isAnswer });
  if (isAnswer) {
    // A message to an agent that waits for an answer is the answer.
    const answers = { [question.id]: task };
    return { input: new Command({ resume: answers }), answers };
  }
  return { input: { ...input, ...more }, task, answers: {}, ...where };
}

/** Gives the messages of an input ids, so that a repeated run does not add them twice. Throws for what is no message. */
export function withMessageIds(input: Record<string, unknown>): Record<string, unknown> {
  const { messages: sent } = input;
  if (sent === undefined || sent === null) return input;
  const messages = [sent].flat().map((message: unknown) => {
    if (typeof message === "string") return { type: "human", content: message, id: crypto.randomUUID() };
    if (isPair(message)) return { role: message[0], content: message[1], id: crypto.randomUUID() };
    const { id } = (message ?? {}) as { id?: unknown };
    return typeof id === "string" && id !== ""
      ? message
      : { ...(message as object), id: crypto.randomUUID() };
  });
  return { ...input, messages };
}

/** A message as `["human", "Hello"]`. */
function isPair(message: unknown): message is [role: string, content: unknown] {
  return Array.isArray(message) && message.length === 2;
}

/**
 * The checkpoint that a request names, unless it is the newest: with a checkpoint LangGraph repeats the finished calls
 * of a waiting step, and clients name the newest one whenever they resume.
 */
function checkpointOf({ checkpoint }: RunRequest, { config }: StateSnapshot): CheckpointPlace | undefined {
  const head: unknown = config.configurable?.["checkpoint_id"];
  return checkpoint?.checkpoint_id === undefined || checkpoint.checkpoint_id === head
    ? undefined
    : checkpoint;
}

/** Whether a killed run had reached its first checkpoint. */
function hasBegun({ base, request }: RunRecord, { values, next, config }: StateSnapshot): boolean {
  if (base === undefined) return false;
  const sent = messagesOf((request as RunRequest).input ?? {});
  const head: unknown = config.configurable?.["checkpoint_id"] ?? "";
  if (sent.length === 0) return head !== base;
  const { messages = [] } = (values ?? {}) as { messages?: BaseMessage[] };
  const savedIds = new Set(messages.map(({ id }) => id));
  return sent.some(({ id }) => savedIds.has(id)) || (head !== base && next.includes("__start__"));
}

interface CommandPlace extends Pick<BeginningOptions, "state"> {
  /** Undefined for the newest one. */
  checkpoint: CheckpointPlace | undefined;
  allowed: Allowed;
}

function commandOf({ command = {} }: RunRequest, place: CommandPlace): Beginning {
  const { update, goto } = command;
  const { allowed } = place;
  const resume = command.resume === undefined ? undefined : resumeOf(command.resume, place);
  const nodes =
    goto === undefined || goto === null ? undefined : [goto].flat().map((node) => toNode(node, allowed));
  const parts = {
    ...(resume && { resume }),
    ...(update !== undefined && update !== null && { update: allowed(update as Values) }),
    ...(nodes && { goto: nodes }),
  };
  return { input: Object.keys(parts).length > 0 ? new Command(parts) : null, answers: resume ?? {} };
}

function resumeOf(resume: unknown, { state, checkpoint }: CommandPlace): Record<string, unknown> | undefined {
  if (!checkpoint) return answersById(resume, waitingOf(state));
  // Answers at an earlier checkpoint were checked when the run was requested.
  return isKeyed(resume) ? resume : undefined;
}

/** A target of `goto`. Its state is filtered, too: `__start__` writes all that it gets. */
function toNode(target: unknown, allowed: Allowed): string | Send {
  if (typeof target === "string") return target;
  const { node, input } = (target ?? {}) as { node: string; input?: unknown };
  const isState = typeof input === "object" && input !== null && !Array.isArray(input);
  return new Send(node, isState ? allowed(input as Values) : input);
}

export function taskOf(input: Record<string, unknown>): string | undefined {
  return messagesOf(input)
    .findLast((message) => message.getType() === "human")
    ?.text.trim();
}

function messagesOf({ messages }: Record<string, unknown>): BaseMessage[] {
  if (messages === undefined || messages === null) return [];
  return [messages].flat().map((message) => coerceMessageLikeToMessage(message as never));
}
