import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, HumanMessage, SystemMessage, type BaseMessage } from "@langchain/core/messages";
import { getConfig, isGraphBubbleUp, StateSchema } from "@langchain/langgraph";
import { createMiddleware } from "langchain";
import { z } from "zod";
import { HarnessError } from "../../errors.ts";
import { headAndTail } from "../../files/text/index.ts";
import { readState, taskInputOf } from "../../langgraph/index.ts";
import { toModel, withoutThoughts } from "../../models/index.ts";
import { foreign, renderSnapshot } from "../../plan/render/index.ts";
import type { Account, Budget } from "../budget/index.ts";
import { conversationText } from "../conversation-file/index.ts";
import { checkOptions } from "../options/index.ts";
import { isAwaitingUser, isFinalAnswer, ASK_TOOLS, readPlanState } from "../plan/index.ts";
import { usedTokens } from "../prices/index.ts";
import { harnessField, lastValue } from "../state/index.ts";
import { filled, isFromUser, reminderMessage, withSection } from "../text/index.ts";
import type { RunContext } from "../thread-data/index.ts";
import { GOAL_REMINDER, GOAL_SECTION, JUDGE_MATERIAL, JUDGE_PROMPT } from "./goal.prompt.ts";
import { GOAL, type GoalContext, type GoalJudge, type GoalOptions, type GoalOutcome } from "./options.ts";

export {
  type GoalContext,
  type GoalJudge,
  type GoalOptions,
  type GoalOutcome,
  type GoalVerdict,
  GOAL,
} from "./options.ts";

/** The most answers of a run that are returned to the model. */
const MOST_RETURNS = 2;
const REMINDER = "goal_reminder";
/** The most characters of a conversation that are shown to a judge. */
const LONGEST = 200_000;

const OUTCOME = z.object({ met: z.boolean().optional(), reasons: z.array(z.string()) }) as z.ZodType<
  GoalOutcome,
  GoalOutcome
>;

/**
 * Judges the work when the model wants to end. The reasons why the goal is not met are returned to the model, at most
 * twice and while the budget lasts; `goal` in the state has the last outcome. Adds one graph step at the end of a run.
 * An error of the judge lets the run end. `model`: the default of `judge`.
 *
 * @example
 * ```ts
 * import { createAgent } from "langchain";
 * import { goalMiddleware } from "holdfast";
 *
 * const goal = goalMiddleware({
 *   criteria: ["The answer names a source."],
 *   judge: ({ answer }) => answer.includes("https://") || "Name the page that you read.",
 * });
 * const agent = createAgent({ model: "openai:gpt-5.1", middleware: [goal] });
 * ```
 */
export function goalMiddleware(
  options: GoalOptions,
  { budget, model }: { budget?: Budget; model?: BaseChatModel } = {},
) {
  checkOptions(options, { name: "goalMiddleware", schema: GOAL });
  const { criteria, judge = model } = options;
  if (judge === undefined) {
    throw new HarnessError("invalid-options", "goalMiddleware: judge: must be a function or a model.");
  }
  const section = filled(GOAL_SECTION, { criteria: bulletList(criteria) });
  // A hook gets only its own fields of the state; the names of the others are collected in model calls.
  const fields = new Set(["todos", "files"]);
  return createMiddleware({
    name: "GoalMiddleware",
    stateSchema: new StateSchema({ goal: harnessField(lastValue(OUTCOME.optional())) }),
    wrapModelCall: (request, handler) => {
      for (const name of Object.keys(taskInputOf(request.runtime.configurable))) fields.add(name);
      return handler({ ...request, systemMessage: withSection(request.systemMessage, section) });
    },
    afterAgent: {
      canJumpTo: ["model" as const],
      hook: async ({ messages }) => {
        const answer = messages.at(-1);
        if (!AIMessage.isInstance(answer) || !isFinalAnswer(answer)) return undefined;
        if (isAwaitingUser(messages, ASK_TOOLS)) return undefined;
        const config = getConfig() as RunContext & { signal?: AbortSignal };
        const state = readState(config.configurable ?? {}, [...fields]) as GoalContext["state"];
        const account = budget?.accountOf(config);
        const context: GoalContext = {
          criteria,
          answer: answer.text,
          messages,
          todos: readPlanState(state).todos,
          state,
          signal: config.signal,
        };
        const decide = typeof judge === "function" ? judge : modelJudge(toModel(judge), account);
        const goal = await outcomeOf(decide, context);
        if (goal.met !== false || returnsIn(messages) >= MOST_RETURNS || account?.isUsedUp) return { goal };
        const text = filled(GOAL_REMINDER, { reasons: foreign(bulletList(goal.reasons)) });
        return { goal, messages: [reminderMessage(REMINDER, text)], jumpTo: "model" as const };
      },
    },
  });
}

async function outcomeOf(judge: GoalJudge, context: GoalContext): Promise<GoalOutcome> {
  try {
    const verdict = (await judge(context)) ?? true;
    if (verdict === true) return { met: true, reasons: [] };
    if (verdict === false) return { met: false, reasons: ["the check did not pass"] };
    const reasons = typeof verdict === "string" ? [verdict] : [...verdict];
    return { met: reasons.length === 0, reasons };
  } catch (error) {
    if (context.signal?.aborted || isGraphBubbleUp(error)) throw error;
    return {
      reasons: [`The goal was not judged: ${error instanceof Error ? error.message : String(error)}`],
    };
  }
}

/** A judge that asks a model. Throws if the budget is used up or the answer does not judge every criterion. */
function modelJudge(model: BaseChatModel, account: Account | undefined): GoalJudge {
  return async ({ criteria, messages, todos, signal }) => {
    const usedUp = account?.take();
    if (usedUp) throw new Error(usedUp.text);
    const text = conversationText(messages);
    const { head, tail } = headAndTail(text, LONGEST);
    const request = [
      new SystemMessage(JUDGE_PROMPT),
      new HumanMessage(
        filled(JUDGE_MATERIAL, {
          criteria: criteria.map((criterion, at) => `${at + 1}: ${criterion}`).join("\n"),
          plan: foreign(renderSnapshot(todos)),
          conversation: foreign(text.length > LONGEST ? `${head}\n[…]\n${tail}` : text),
        }),
      ),
    ];
    const answer = await model.invoke(request, { tags: ["nostream"], signal });
    account?.addTokens(usedTokens(answer));
    return reasonsIn(withoutThoughts(answer.text), criteria);
  };
}

function reasonsIn(text: string, criteria: readonly string[]): string[] {
  return criteria.flatMap((criterion, at) => {
    const line = new RegExp(String.raw`^\W*${at + 1}\W+(not met|met)\b\W*(.*)$`, "im").exec(text);
    if (!line) throw new Error(`the judge did not say whether "${criterion}" is met`);
    return line[1]!.toLowerCase() === "met" ? [] : [`${criterion}${line[2] ? `: ${line[2]}` : ""}`];
  });
}

/** The number of answers since the user's last message that this middleware returned to the model. */
function returnsIn(messages: readonly BaseMessage[]): number {
  return messages.slice(messages.findLastIndex(isFromUser) + 1).filter(({ name }) => name === REMINDER)
    .length;
}

function bulletList(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join("\n");
}
