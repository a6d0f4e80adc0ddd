import { isDeepStrictEqual } from "node:util";
import { ToolMessage, type ToolCall } from "@langchain/core/messages";
import { createMiddleware, type ToolCallRequest } from "langchain";
import { decisionList } from "../../decision.ts";
import {
  earlierAnswer,
  sharedAnswer,
  type Unended,
  answeredCalls,
  stepWrites,
  isResuming,
  taskInputOf,
} from "../../langgraph/index.ts";
import { mark, marks } from "../../marks.ts";
import { checkOptions } from "../options/index.ts";
import { inTurn, kindOf } from "../ordered-calls/index.ts";
import { ownerOf } from "../plan/index.ts";
import { type RepeatOptions, REPEAT_TEXTS, ranText, unknownOutcome } from "../repeats/index.ts";
import { filled, decidedByUser, shortened } from "../text/index.ts";
import { answered, answeredOnce } from "../tool-errors/index.ts";
import {
  type CallResult,
  errorResult,
  foreseenFailure,
  withNote,
  messagesOf,
  askUser,
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
 * The value of the interrupt that asks about one call. Resume with a `ConsentDecision`, or with an answer in the form of
 * LangChain's human-in-the-loop UIs.
 */
export interface ConsentRequest extends ReviewFields {
  type: "consent";
  version: 1;
  /** The calling agent: `main`, or a sub-agent's owner such as `main/researcher:call_7`. */
  owner: string;
  call: string;
  name: string;
  args: Record<string, unknown>;
  allowedDecisions: readonly string[];
  /** How often the call was running when a run was stopped: it may have had its effect. */
  repeated?: number;
  /** How far the call was when its run was stopped. */
  ran?: string;
  /** Further facts for the user, such as that the tool has changed. */
  notice?: string;
  /** The error of the last decision. */
  error?: string;
  /** An answer without an interrupt's id that was not accepted, as it may be about another call. */
  putAside?: unknown;
}

/**
 * Asks the user about each call when it would run: the other calls of the turn run and keep their results whatever is
 * decided. Adds no graph step. Has the name of LangChain's middleware, so that a user can replace it by that. Belongs
 * before middleware that retries calls.
 *
 * @example
 * ```ts
 * import { MemorySaver } from "@langchain/langgraph";
 * import { createAgent } from "langchain";
 * import { consentMiddleware } from "holdfast";
 *
 * const send = { allowedDecisions: ["approve" as const, "reject" as const] };
 * const middleware = [consentMiddleware({ interruptOn: { send_mail: send, "mcp__*": true } })];
 * const agent = createAgent({ model: "openai:gpt-5.1", middleware, checkpointer: new MemorySaver() });
 * ```
 */
export function consentMiddleware(options: ConsentOptions) {
  checkOptions(options, { name: "consentMiddleware", schema: CONSENT_OPTIONS });
  return gate("HumanInTheLoopMiddleware", options);
}

/**
 * Handles calls that were running when a run was stopped, by the policy of each tool in `repeats`. For agents without
 * `consentMiddleware`, which does the same.
 *
 * @example
 * ```ts
 * import { createAgent } from "langchain";
 * import { repeatsMiddleware } from "holdfast";
 * import { sqliteSaver } from "holdfast/storage";
 *
 * const middleware = [repeatsMiddleware({ send_mail: "ask", read_mail: "harmless", "*": "unknown" })];
 * const checkpointer = await sqliteSaver("threads.db");
 * const agent = createAgent({ model: "openai:gpt-5.1", middleware, checkpointer });
 * ```
 */
export function repeatsMiddleware(repeats: RepeatOptions = {}) {
  checkOptions({ interruptOn: {}, repeats }, { name: "repeatsMiddleware", schema: CONSENT_OPTIONS });
  return gate("RepeatsMiddleware", { interruptOn: {}, repeats });
}

/** The middleware behind both: checks every call before it runs. */
function gate(name: string, options: ConsentOptions) {
  const rules = new ConsentRules(options.interruptOn);
  return createMiddleware({
    name,
    wrapToolCall: async (request, handler) => {
      const { toolCall, tool, state, runtime } = request;
      const context = { state, runtime };
      const reason = await rules.get(toolCall.name)?.refuse?.({ toolCall, ...context });
      if (reason !== undefined)
        return errorResult(toolCall, filled(CONSENT_TEXTS.refused, { name: toolCall.name, reason }));
      const recorded = await RecordedCall.find(request, { rules, repeats: options.repeats });
      if (recorded.policy === "unknown") return unknownOutcome(toolCall, recorded.repeated);
      const ruleOf: RuleOf = (call) =>
        recorded.mustAsk(call) ? always(rules.get(call.name)) : rules.get(call.name);
      const turn = await askingTurn(toolCall, ruleOf, context);
      const open = [...turn.asking, ...turn.refused];
      if (turn.message && open.length > 0) withholdCalls(turn.message, open);
      const answer = recorded.repeated ? answered : answeredOnce;
      const run = async (call: typeof request) =>
        (await inTurn(call)) ??
        recorded.run(call, { handler: (one) => answer(one, handler), wasAsked: turn.at >= 0 });
      if (turn.at < 0)
        return recorded.policy === "consent" ? unknownOutcome(toolCall, recorded.repeated) : run(request);
      const failure = recorded.repeated ? undefined : await failureOf(request, turn);
      if (failure) return failure;
      const pending = { call: toolCall, tool, ruleOf, repeated: recorded.repeated, ...turn };
      const decision = await askForDecision(pending, context);
      if (decision === undefined) return unknownOutcome(toolCall, recorded.repeated);
      if (decision.type === "reject" || decision.type === "respond")
        return refusalOf(toolCall, decision, recorded.repeated);
      const { id = "" } = toolCall;
      const args: Record<string, unknown> = decision.type === "edit" ? decision.args : toolCall.args;
      const isSame = isDeepStrictEqual(args, toolCall.args);
      const result = await run(isSame ? request : { ...request, toolCall: { ...toolCall, args } });
      const marked = withMarks(result, id, decidedByUser(decision));
      return isSame ? marked : withEditNote(marked, { id, before: toolCall.args, after: args });
    },
  });
}

/**
 * The result of a call that is certain to fail, so that no one is asked about it. Undefined if an earlier call of its
 * message may change that, or if the question was asked already.
 */
async function failureOf(
  { toolCall, tool, state, runtime }: ToolCallRequest,
  { message }: AskingTurn,
): Promise<CallResult | undefined> {
  const configurable = (runtime as CallContext["runtime"]).configurable ?? {};
  const calls = message?.tool_calls ?? [];
  const at = calls.findIndex(({ id }) => id === toolCall.id);
  const isUnaffected = calls.every(
    ({ name }, index) => index >= at || kindOf(name, undefined, {}) === "read" || name.endsWith("_todos"),
  );
  if (!isUnaffected || isResuming(configurable)) return undefined;
  // LangChain passes only the middleware's own fields of the state.
  const fullState = { ...taskInputOf(configurable), ...state };
  return foreseenFailure(tool, toolCall, { ...runtime, toolCall, state: fullState });
}

/** The rule without its condition: it holds for every call. */
function always(rule: ConsentRule = ALL): ConsentRule {
  const { when: _, ...others } = rule;
  return others;
}

type Pending = Omit<Reviewed, "rule" | "open"> &
  AskingTurn & { ruleOf: RuleOf; repeated: Unended | undefined };

/**
 * Asks until the answer can be parsed: on resume LangGraph replays all earlier answers, also those that could not be.
 * Undefined if the call may be a repetition, and the answer may be from before it was one.
 */
async function askForDecision(pending: Pending, context: CallContext): Promise<ReadDecision | undefined> {
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
      const progress = await openCalls(call, asking, configurable);
      ({ open } = progress);
      const isNew = shared.isNew && !isDeepStrictEqual(shared.answer, progress.putAside);
      if (!isNew || !progress.wasAsked || count !== open.length) {
        shared.putAside();
        stray = { putAside: shared.answer };
        reading = miscounted(shared.answer, open);
      }
    }
    const request = await requestFor({ ...pending, open }, context, reading);
    const answer = askUser({ ...request, ...stray }, "consentMiddleware");
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
  // After a wrong number of decisions, the question lists all open calls.
  const listed = isMiscounted ? open : [call];
  const ran = repeated?.stopped && ranText(repeated.stopped);
  const notice = ruleOf(call)!.notice?.(call);
  const reviews = await Promise.all(
    listed.map(async ({ name, args }, at) => {
      const rule = ruleOf(listed[at]!)!;
      const described = await describe(listed[at]!, rule, context);
      const isRepeated = repeated?.calls.has(listed[at]!.id ?? "");
      // LangChain's UIs show only the description.
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

function refusalOf(
  { name, id = "" }: ToolCall,
  decision: ReadDecision & { type: "reject" | "respond" },
  repeated: Unended | undefined,
): ToolMessage {
  const { type, message } = decision;
  const { rejected, rejectedWithoutReason, responded } = CONSENT_TEXTS;
  const text = type === "respond" ? responded : message === undefined ? rejectedWithoutReason : rejected;
  const words = filled(text, { name, reason: message ?? "" });
  const content = repeated ? `${words}\n${ranText(repeated.stopped)}` : words;
  const additional_kwargs = marks({ user_said: words, ...decidedByUser(decision) });
  return new ToolMessage({ content, status: "error", name, tool_call_id: id, additional_kwargs });
}

type Arguments = Record<string, unknown>;

/** Notes in a call's result which arguments the user changed: the model's own message stays as it is. */
function withEditNote(
  result: CallResult,
  { id, before, after }: { id: string; before: Arguments; after: Arguments },
): CallResult {
  const note = filled(CONSENT_TEXTS.edited, { changes: changesOf(before, after) });
  return withMarks(withNote(result, note, id), id, { user_said: note });
}

function withMarks(result: CallResult, id: string, values: Parameters<typeof mark>[1]): CallResult {
  for (const message of messagesOf(result)) {
    if (message.tool_call_id !== id) continue;
    mark(message, values);
  }
  return result;
}

/** The most characters shown of an argument. */
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

/**
 * Finds, for an answer without an interrupt's id, the calls that did not run in an earlier invocation, by the saved
 * writes of the step. `wasAsked`: whether the user who answers has seen this call's question. `putAside`: the answer
 * that this call did not accept when it last asked, as LangGraph may return it again.
 */
async function openCalls(
  call: ToolCall,
  asking: readonly ToolCall[],
  configurable: Record<string, unknown>,
): Promise<{ open: readonly ToolCall[]; wasAsked: boolean; putAside?: unknown }> {
  const { writes, asked } = await stepWrites(configurable);
  const results = new Set(
    writes.flatMap(([, channel, value]) =>
      channel === "messages"
        ? [value].flat().flatMap((message) => (ToolMessage.isInstance(message) ? message.tool_call_id : []))
        : [],
    ),
  );
  const { putAside } = (asked ?? {}) as { putAside?: unknown };
  const answeredIds = answeredCalls(writes);
  // If the call's own id has a result, the model gave several calls one id: which of them have run is unknown.
  const open = results.has(call.id ?? "")
    ? asking
    : asking.filter(({ id = "" }) => !results.has(id) && (id === call.id || !answeredIds.has(id)));
  return { open, wasAsked: asked !== undefined, putAside };
}

export { type ConsentDecision } from "./decision.ts";
export { type ConsentOptions, type ConsentRule, INTERRUPT_ON } from "./options.ts";
export { ALL } from "./rules.ts";
