import { isDeepStrictEqual } from "node:util";
import { ToolMessage, type ToolCall } from "@langchain/core/messages";
import type { Command } from "@langchain/langgraph";
import { createMiddleware, type ToolCallRequest } from "langchain";
import {
  earlierAnswer,
  sharedAnswer,
  type Unended,
  answeredCalls,
  stepWrites,
  isResuming,
  taskInputOf,
} from "../../langgraph/index.ts";
import { checkOptions } from "../options/index.ts";
import { inTurn, kindOf } from "../ordered-calls/index.ts";
import { ownerOf } from "../plan/index.ts";
import { type RepeatOptions, REPEAT_TEXTS, ranText, unknownOutcome } from "../repeats/index.ts";
import { filled, decidedByUser, saidByUser, shortened } from "../text/index.ts";
import { answered, answeredOnce } from "../tool-errors/index.ts";
import {
  foreseenFailure,
  withNote,
  messagesOf,
  askPerson,
  decisionList,
  reviewFields,
  type ReviewFields,
  withholdCalls,
} from "../tools/index.ts";
import { CONSENT_TEXTS } from "./consent.prompt.ts";
import { miscounted, readDecision, type ReadDecision, type Reading, type Reviewed } from "./decision.ts";
import { CONSENT_OPTIONS, type ConsentOptions, type ConsentRule } from "./options.ts";
import { RecordedCall } from "./recorded-call.ts";
import { ALL, ConsentRules } from "./rules.ts";
import { askingTurn, type AskingTurn, type CallContext, type RuleOf } from "./turn.ts";

/**
 * The value of the interrupt that asks about one call. Resume with a `ConsentDecision`; the answers of LangChain's
 * human-in-the-loop UIs are understood too.
 */
export interface ConsentRequest extends ReviewFields {
  type: "consent";
  version: 1;
  /** The caller: `main`, or a sub-agent's place such as `main/researcher:call_7`. */
  owner: string;
  /** The id of the call. */
  call: string;
  name: string;
  args: Record<string, unknown>;
  allowedDecisions: readonly string[];
  /** The number of times that the call was under way when a run was stopped: it may have had its effect. */
  repeated?: number;
  /** The progress of the call when its run was stopped, in words. */
  ran?: string;
  /** Facts for the person beside the arguments, such as that the tool has changed. */
  notice?: string;
  /** The error of the last decision, if there was one. */
  error?: string;
  /** An answer without an interrupt's id that was not taken, as it may have been about another call. */
  putAside?: unknown;
}

/**
 * Asks a person about calls one by one, each at the moment it would run: the calls beside it are made and kept whatever
 * is decided. Takes no graph step. Bears the name of LangChain's middleware, which a user may put in its place. Stands
 * in front of middleware that tries calls again.
 */
export function consentMiddleware(options: ConsentOptions) {
  checkOptions(options, { name: "consentMiddleware", schema: CONSENT_OPTIONS });
  return gate("HumanInTheLoopMiddleware", options);
}

/**
 * Keeps calls that were under way when a run was stopped from being run again unseen, as `repeats` says of each tool.
 * The same as `consentMiddleware` has, for agents without.
 */
export function repeatsMiddleware(repeats: RepeatOptions = {}) {
  checkOptions({ interruptOn: {}, repeats }, { name: "repeatsMiddleware", schema: CONSENT_OPTIONS });
  return gate("RepeatsMiddleware", { interruptOn: {}, repeats });
}

/** The check that every call passes before it runs. */
function gate(name: string, options: ConsentOptions) {
  const rules = new ConsentRules(options.interruptOn);
  return createMiddleware({
    name,
    wrapToolCall: async (request, handler) => {
      const { toolCall, tool, state, runtime } = request;
      const context = { state, runtime };
      const reason = await rules.get(toolCall.name)?.refuse?.({ toolCall, ...context });
      if (reason !== undefined) return notMade(toolCall, reason);
      const recorded = await RecordedCall.find(request, { rules, repeats: options.repeats });
      if (recorded.policy === "unknown") return unknownOutcome(toolCall, recorded.repeated);
      const ruleOf: RuleOf = (call) =>
        recorded.mustAsk(call) ? always(rules.get(call.name)) : rules.get(call.name);
      const turn = await askingTurn(toolCall, ruleOf, context);
      const open = [...turn.asking, ...turn.refused];
      if (turn.message && open.length > 0) withholdCalls(turn.message, open);
      const answer = recorded.repeated ? answered : answeredOnce;
      const run = async (made: typeof request) =>
        (await inTurn(made)) ??
        recorded.run(made, { handler: (one) => answer(one, handler), wasAsked: turn.at >= 0 });
      if (turn.at < 0)
        return recorded.policy === "consent" ? unknownOutcome(toolCall, recorded.repeated) : run(request);
      const foreseen = recorded.repeated ? undefined : await failureOf(request, turn);
      if (foreseen) return foreseen;
      const pending = { call: toolCall, tool, ruleOf, repeated: recorded.repeated, ...turn };
      const decision = await decided(pending, context);
      if (decision === undefined) return unknownOutcome(toolCall, recorded.repeated);
      if (decision.type === "reject" || decision.type === "respond")
        return refused(toolCall, decision, recorded.repeated);
      const { id = "" } = toolCall;
      const args: Record<string, unknown> = decision.type === "edit" ? decision.args : toolCall.args;
      const isSame = isDeepStrictEqual(args, toolCall.args);
      const result = await run(isSame ? request : { ...request, toolCall: { ...toolCall, args } });
      const decidedResult = withMarks(result, id, decidedByUser(decision));
      return isSame ? decidedResult : withEditNote(decidedResult, { id, before: toolCall.args, after: args });
    },
  });
}

/**
 * The result of a call that can only fail: nobody is asked about it. Not where an earlier call of its message may change
 * that, and not when the question was put already.
 */
async function failureOf(
  { toolCall, tool, state, runtime }: ToolCallRequest,
  { message }: AskingTurn,
): Promise<ToolMessage | Command | undefined> {
  const configurable = (runtime as CallContext["runtime"]).configurable ?? {};
  const calls = message?.tool_calls ?? [];
  const at = calls.findIndex(({ id }) => id === toolCall.id);
  const isAlone = calls.every(
    ({ name }, index) => index >= at || kindOf(name, undefined, {}) === "read" || name.endsWith("_todos"),
  );
  if (!isAlone || isResuming(configurable)) return undefined;
  // A hook is given its own fields of the state alone.
  const whole = { ...taskInputOf(configurable), ...state };
  return foreseenFailure(tool, toolCall, { ...runtime, toolCall, state: whole });
}

/** A rule that holds for a call whatever it is about. */
function always(rule: ConsentRule = ALL): ConsentRule {
  const { when: _, ...others } = rule;
  return others;
}

type Pending = Omit<Reviewed, "rule" | "open"> &
  AskingTurn & { ruleOf: RuleOf; repeated: Unended | undefined };

/**
 * Asks until the answer can be read: LangGraph replays every earlier answer on resume, also one that could not be.
 * Undefined where a call may be a repetition and an earlier answer cannot be told from one about that.
 */
async function decided(pending: Pending, context: CallContext): Promise<ReadDecision | undefined> {
  const { configurable = {} } = context.runtime;
  const { call, asking, ruleOf, repeated } = pending;
  const rule = ruleOf(call)!;
  let { asking: open } = pending;
  let reading: Reading | undefined;
  const earlier = repeated && earlierAnswer(configurable, repeated);
  if (earlier === "unclear") return undefined;
  if (earlier?.isSame) reading = { error: REPEAT_TEXTS.earlierAnswer };
  for (;;) {
    let stray = earlier ? { putAside: earlier.answer } : {};
    const shared = sharedAnswer(configurable);
    const count = decisionList(shared?.answer)?.length ?? 1;
    if (shared && count !== asking.length) {
      const known = await openCalls(call, asking, configurable);
      ({ open } = known);
      const isNew = shared.isNew && !isDeepStrictEqual(shared.answer, known.putAside);
      if (!isNew || !known.wasAsked || count !== open.length) {
        shared.putAside();
        stray = { putAside: shared.answer };
        reading = miscounted(shared.answer, open);
      }
    }
    const request = await requestFor({ ...pending, open }, context, reading);
    const answer = askPerson({ ...request, ...stray }, "consentMiddleware");
    reading = await readDecision(answer, { ...pending, open, rule });
    if ("decision" in reading) return reading.decision;
  }
}

async function requestFor(
  { call, open, ruleOf, repeated }: Pending & Pick<Reviewed, "open">,
  context: CallContext,
  last: Reading | undefined,
): Promise<ConsentRequest> {
  const { configurable } = context.runtime;
  const { error, isMiscounted } = last && "error" in last ? last : {};
  // Who sent a decision too few has to see what else there is to decide.
  const listed = isMiscounted ? open : [call];
  const ran = repeated?.stopped && ranText(repeated.stopped);
  const notice = ruleOf(call)!.notice?.(call);
  const reviews = await Promise.all(
    listed.map(async ({ name, args }, at) => {
      const rule = ruleOf(listed[at]!)!;
      const described = await describe(listed[at]!, rule, context);
      const isRepeated = repeated?.calls.has(listed[at]!.id ?? "");
      // LangChain's UIs show the description and know nothing else.
      const description = [
        error,
        isRepeated && REPEAT_TEXTS.question,
        listed[at] === call && ran,
        described,
        rule.notice?.(listed[at]!),
      ]
        .filter(Boolean)
        .join("\n\n");
      return { action: { name, args, description }, rule };
    }),
  );
  return {
    type: "consent",
    version: 1,
    owner: ownerOf({ configurable }, "main"),
    call: call.id ?? "",
    name: call.name,
    args: call.args,
    allowedDecisions: ruleOf(call)!.allowedDecisions,
    ...(repeated && { repeated: repeated.times }),
    ...(ran !== undefined && { ran }),
    ...(notice !== undefined && { notice }),
    ...(error !== undefined && { error }),
    ...reviewFields(reviews),
  };
}

async function describe(
  call: ToolCall,
  { description }: ConsentRule,
  { state, runtime }: CallContext,
): Promise<string> {
  if (description === undefined) return `The agent asks for permission to call ${call.name}.`;
  return typeof description === "string" ? description : description(call, state, runtime);
}

function refused(
  { name, id = "" }: ToolCall,
  decision: ReadDecision & { type: "reject" | "respond" },
  repeated: Unended | undefined,
): ToolMessage {
  const { type, message } = decision;
  const { rejected, rejectedWithoutReason, responded } = CONSENT_TEXTS;
  const text = type === "respond" ? responded : message === undefined ? rejectedWithoutReason : rejected;
  const words = filled(text, { name, reason: message ?? "" });
  const content = repeated ? `${words}\n${ranText(repeated.stopped)}` : words;
  const additional_kwargs = { ...saidByUser(words), ...decidedByUser(decision) };
  return new ToolMessage({ content, status: "error", name, tool_call_id: id, additional_kwargs });
}

function notMade({ name, id = "" }: ToolCall, reason: string): ToolMessage {
  const content = filled(CONSENT_TEXTS.refused, { name, reason });
  return new ToolMessage({ content, status: "error", name, tool_call_id: id });
}

type Arguments = Record<string, unknown>;

/** Tells the model, with the result of a call, that it was not made as the model wrote it: its message stays as it is. */
function withEditNote(
  result: ToolMessage | Command,
  { id, before, after }: { id: string; before: Arguments; after: Arguments },
): ToolMessage | Command {
  const note = filled(CONSENT_TEXTS.edited, { changes: changesOf(before, after) });
  return withMarks(withNote(result, note, id), id, saidByUser(note));
}

function withMarks(
  result: ToolMessage | Command,
  id: string,
  marks: Record<string, unknown>,
): ToolMessage | Command {
  for (const message of messagesOf(result)) {
    if (message.tool_call_id !== id) continue;
    message.additional_kwargs = { ...message.additional_kwargs, ...marks };
  }
  return result;
}

/** The characters shown of an argument. */
const MOST = 200;

function changesOf(before: Arguments, after: Arguments): string {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .filter((name) => !isDeepStrictEqual(before[name], after[name]))
    .map((name) =>
      name in after ? `${name} is ${shortened(JSON.stringify(after[name]), MOST)}` : `${name} was left out`,
    )
    .join("; ");
}

/** A turn's calls that ask, for an answer without an interrupt's id. */
interface OpenCalls {
  /** The calls that did not run in an earlier invocation. */
  open: readonly ToolCall[];
  /** True when a person who answers now has seen this call's question. */
  wasAsked: boolean;
  /** The answer that this call did not take when it last asked: LangGraph may hand it out again. */
  putAside?: unknown;
}

/** Finds them among what the step's finished calls have written: LangGraph saves that, and runs only the rest again. */
async function openCalls(
  call: ToolCall,
  asking: readonly ToolCall[],
  configurable: Record<string, unknown>,
): Promise<OpenCalls> {
  const { writes, asked } = await stepWrites(configurable);
  const results = new Set(
    writes.flatMap(([, channel, value]) =>
      channel === "messages"
        ? [value].flat().flatMap((message) => (ToolMessage.isInstance(message) ? message.tool_call_id : []))
        : [],
    ),
  );
  const { putAside } = (asked ?? {}) as { putAside?: unknown };
  // Where a model gives its calls one id, nobody can tell which of them have run.
  const waiting = answeredCalls(writes);
  const open = results.has(call.id ?? "")
    ? asking
    : asking.filter(({ id = "" }) => !results.has(id) && (id === call.id || !waiting.has(id)));
  return { open, wasAsked: asked !== undefined, putAside };
}

export { type ConsentDecision } from "./decision.ts";
export { type ConsentOptions, type ConsentRule, INTERRUPT_ON } from "./options.ts";
export { ALL } from "./rules.ts";
