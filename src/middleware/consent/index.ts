import { isDeepStrictEqual } from "node:util";
import { ToolMessage, type ToolCall } from "@langchain/core/messages";
import { createMiddleware, type InterruptOnConfig } from "langchain";
import { checkOptions } from "../check-options.ts";
import { ownerOf } from "../plan/events.ts";
import { askPerson, decisionList, reviewFields, type ReviewFields } from "../review.ts";
import { answeredOnce } from "../tool-errors/index.ts";
import { withholdCalls } from "../withheld-calls.ts";
import { CONSENT_OPTIONS } from "./check-options.ts";
import { CONSENT_TEXTS } from "./consent.prompt.ts";
import { miscounted, readDecision, type ReadDecision, type Reading, type Reviewed } from "./decision.ts";
import { withEditNote } from "./edited-result.ts";
import { openCalls } from "./open-calls.ts";
import type { ConsentOptions } from "./options.ts";
import { sharedAnswer } from "./shared-answer.ts";
import { askingTurn, type AskingTurn, type CallContext, type Rules } from "./turn.ts";

/**
 * The value of the interrupt that asks about one call. Resume with a `ConsentDecision`; the answers of LangChain's
 * human-in-the-loop UIs are understood too.
 */
export interface ConsentRequest extends ReviewFields {
  type: "consent";
  version: 1;
  /** Who wants to make the call: `main`, or a sub-agent's place such as `main/researcher:call_7`. */
  owner: string;
  /** The id of the call. */
  call: string;
  name: string;
  args: Record<string, unknown>;
  allowedDecisions: readonly string[];
  /** What was wrong with the last decision, when there was one. */
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
  const rules = rulesOf(options);
  return createMiddleware({
    name: "HumanInTheLoopMiddleware",
    wrapToolCall: async (request, handler) => {
      const { toolCall, tool, state, runtime } = request;
      const context = { state, runtime };
      const turn = await askingTurn(toolCall, rules, context);
      if (turn.message) withholdCalls(turn.message, turn.asking);
      if (turn.at < 0) return answeredOnce(request, handler);
      const decision = await decided({ call: toolCall, tool, rules, ...turn }, context);
      if (decision.type === "reject" || decision.type === "respond") return refused(toolCall, decision);
      const args: Record<string, unknown> = decision.type === "edit" ? decision.args : toolCall.args;
      if (isDeepStrictEqual(args, toolCall.args)) return answeredOnce(request, handler);
      const result = await answeredOnce({ ...request, toolCall: { ...toolCall, args } }, handler);
      return withEditNote(result, { id: toolCall.id ?? "", before: toolCall.args, after: args });
    },
  });
}

const ALL: InterruptOnConfig = { allowedDecisions: ["approve", "edit", "reject"] };

function rulesOf({ interruptOn }: ConsentOptions): Rules {
  const entries = Object.entries(interruptOn).flatMap(([name, rule]): [string, InterruptOnConfig][] =>
    rule === false ? [] : [[name, rule === true ? ALL : rule]],
  );
  return new Map(entries);
}

type Pending = Omit<Reviewed, "rule" | "open"> & AskingTurn & { rules: Rules };

/** Asks until the answer can be read: LangGraph replays every earlier answer on resume, also one that could not be. */
async function decided(pending: Pending, context: CallContext): Promise<ReadDecision> {
  const { configurable = {} } = context.runtime;
  const { call, asking, rules } = pending;
  const rule = rules.get(call.name)!;
  let { asking: open } = pending;
  for (let reading: Reading | undefined; ;) {
    const shared = sharedAnswer(configurable);
    const count = decisionList(shared?.answer)?.length ?? 1;
    let stray: { putAside?: unknown } = {};
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
  { call, open, rules }: Pending & Pick<Reviewed, "open">,
  context: CallContext,
  last: Reading | undefined,
): Promise<ConsentRequest> {
  const { configurable } = context.runtime;
  const { error, isMiscounted } = last && "error" in last ? last : {};
  // Who sent a decision too few has to see what else there is to decide.
  const listed = isMiscounted ? open : [call];
  const reviews = await Promise.all(
    listed.map(async ({ name, args }, at) => {
      const rule = rules.get(name)!;
      const described = await describe(listed[at]!, rule, context);
      // LangChain's UIs show the description and know no error.
      const description = error === undefined ? described : `${error}\n\n${described}`;
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
    allowedDecisions: rules.get(call.name)!.allowedDecisions,
    ...(error !== undefined && { error }),
    ...reviewFields(reviews),
  };
}

async function describe(
  call: ToolCall,
  { description }: InterruptOnConfig,
  { state, runtime }: CallContext,
): Promise<string> {
  if (description === undefined) return `The agent asks for permission to call ${call.name}.`;
  return typeof description === "string" ? description : description(call, state, runtime);
}

function refused(
  { name, id = "" }: ToolCall,
  { type, message }: { type: "reject" | "respond"; message?: string },
): ToolMessage {
  const { rejected, rejectedWithoutReason, responded } = CONSENT_TEXTS;
  const text = type === "respond" ? responded : message === undefined ? rejectedWithoutReason : rejected;
  const content = text.replace("{name}", () => name).replace("{reason}", () => message ?? "");
  return new ToolMessage({ content, status: "error", name, tool_call_id: id });
}

export { type ConsentDecision } from "./decision.ts";
export { type ConsentOptions } from "./options.ts";
