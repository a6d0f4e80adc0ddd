import { coerceMessageLikeToMessage, type BaseMessage } from "@langchain/core/messages";
import { Command, Send, type StateSnapshot } from "@langchain/langgraph";
import type { RunRecord } from "../../../storage/index.ts";
import { answersById, isKeyed, waitingOf } from "../../run/index.ts";
import { writable, type HostedGraph } from "../graphs.ts";
import type { Begun } from "./attendance.ts";
import type { CheckpointPlace, RunRequest } from "./request.ts";

type Values = Record<string, unknown>;
/** Leaves of values what a client may write. */
type Allowed = (values: Values) => Values;

/** The start of a run. */
export interface Beginning {
  input: object | null;
  checkpoint?: CheckpointPlace;
  /** The user's task. */
  task?: string | undefined;
  /** Answers to questions, by id. */
  answers: Record<string, unknown>;
}

export interface BeginningOptions extends Begun {
  graph: HostedGraph;
  state: StateSnapshot;
  /** Whether somebody has begun it before, and may have got somewhere. */
  isAgain: boolean;
}

/** Reads what a run is to start with from its request and from what the thread has come to. */
export async function beginning(
  record: RunRecord,
  { graph, ready, thread, state, isAgain }: BeginningOptions,
): Promise<Beginning> {
  const request = record.request as RunRequest;
  const checkpoint = placeOf(request, state);
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
    // Words that are typed while the agent waits for an answer are the answer.
    const answers = { [question.id]: task };
    return { input: new Command({ resume: answers }), answers };
  }
  return { input: { ...input, ...more }, task, answers: {}, ...where };
}

/**
 * The messages of an input with ids of their own: with them they are the same ones when a killed run is begun again.
 * Throws for what is no message.
 */
export function withMessageIds(input: Record<string, unknown>): Record<string, unknown> {
  const { messages: given } = input;
  if (given === undefined || given === null) return input;
  const messages = [given].flat().map((message: unknown) => {
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
 * The checkpoint that a request names, unless it is the newest: given a checkpoint, LangGraph repeats the finished
 * calls of a waiting step, and clients name the newest one whenever they resume.
 */
function placeOf({ checkpoint }: RunRequest, { config }: StateSnapshot): CheckpointPlace | undefined {
  const head: unknown = config.configurable?.["checkpoint_id"];
  return checkpoint?.checkpoint_id === undefined || checkpoint.checkpoint_id === head
    ? undefined
    : checkpoint;
}

/** Whether a run that was killed had got as far as its first checkpoint. */
function hasBegun({ base, request }: RunRecord, { values, next, config }: StateSnapshot): boolean {
  if (base === undefined) return false;
  const given = messagesOf((request as RunRequest).input ?? {});
  const head: unknown = config.configurable?.["checkpoint_id"] ?? "";
  if (given.length === 0) return head !== base;
  const { messages = [] } = (values ?? {}) as { messages?: BaseMessage[] };
  const known = new Set(messages.map(({ id }) => id));
  return given.some(({ id }) => known.has(id)) || (head !== base && next.includes("__start__"));
}

interface CommandPlace extends Pick<BeginningOptions, "state"> {
  /** Where it is given, if not at the newest checkpoint. */
  checkpoint: CheckpointPlace | undefined;
  allowed: Allowed;
}

function commandOf({ command = {} }: RunRequest, place: CommandPlace): Beginning {
  const { resume: given, update, goto } = command;
  const { allowed } = place;
  const resume = given === undefined ? undefined : resumeOf(given, place);
  const nodes =
    goto === undefined || goto === null ? undefined : [goto].flat().map((node) => toNode(node, allowed));
  const parts = {
    ...(resume && { resume }),
    ...(update !== undefined && update !== null && { update: allowed(update as Values) }),
    ...(nodes && { goto: nodes }),
  };
  return { input: Object.keys(parts).length > 0 ? new Command(parts) : null, answers: resume ?? {} };
}

function resumeOf(given: unknown, { state, checkpoint }: CommandPlace): Record<string, unknown> | undefined {
  if (!checkpoint) return answersById(given, waitingOf(state));
  // What waits at an earlier checkpoint was looked at when the run was asked for.
  return isKeyed(given) ? given : undefined;
}

/** A node may be handed a state of its own, and `__start__` writes all that it is handed. */
function toNode(given: unknown, allowed: Allowed): string | Send {
  if (typeof given === "string") return given;
  const { node, input } = (given ?? {}) as { node: string; input?: unknown };
  const isState = typeof input === "object" && input !== null && !Array.isArray(input);
  return new Send(node, isState ? allowed(input as Values) : input);
}

/** The user's task in an input. */
export function taskOf(input: Record<string, unknown>): string | undefined {
  return messagesOf(input)
    .findLast((message) => message.getType() === "human")
    ?.text.trim();
}

function messagesOf({ messages }: Record<string, unknown>): BaseMessage[] {
  if (messages === undefined || messages === null) return [];
  return [messages].flat().map((message) => coerceMessageLikeToMessage(message as never));
}
