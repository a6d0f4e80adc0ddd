import { HarnessError } from "../../../../errors.ts";
import { describeChanges, diffTodos } from "../../../../plan/index.ts";
import { PLAN_COMMAND, PLAN_SAYS, planWish } from "../../../../threads/edit/plan-command.ts";
import { MAIN } from "../../../../threads/events/view.ts";
import { PlanConflict } from "../../../../threads/plan/merged-plan.ts";
import { planItems, planRules } from "../../../../threads/plan/plan-text.ts";
import { harmlessLines, oneLine, shown } from "../../output/harmless.ts";
import { planLines, ruleLines } from "../../output/lines.ts";
import { edit } from "../../threads/external-editor.ts";
import { conflictLines, conflictText } from "../../threads/plan-conflict.ts";
import { planText } from "../../threads/plan-text.ts";
import type { Conversation, SlashCommand } from "../conversation.ts";

export const plan: SlashCommand = {
  ...PLAN_COMMAND,
  isBeside: true,
  run: async (args, conversation) => {
    const wish = planWish(args);
    // Here a list is edited in an editor.
    if (!wish || wish.rest !== "") return conversation.say(oneLine(PLAN_SAYS.unknown(args)));
    if (wish.to === "edit") return editInEditor(conversation);
    // A plan that was proposed and not answered is put again.
    if (wish.to !== "clear" && (await isProposed(conversation))) return conversation.goOn();
    if (wish.to === "approve") {
      conversation.settings = { ...conversation.settings, approve: "first" };
      return conversation.say(oneLine(PLAN_SAYS.approve));
    }
    const { thread, paint } = conversation;
    if (thread === undefined) return conversation.say(oneLine(PLAN_SAYS.none));
    if (wish.to === "clear") {
      await thread.clearPlan();
      return conversation.say(oneLine(PLAN_SAYS.cleared));
    }
    const { todos, rules } = await thread.plan();
    if (todos.length === 0) return conversation.say(oneLine(PLAN_SAYS.none));
    conversation.say(...planLines(todos, MAIN, paint), ...ruleLines(rules, MAIN, paint));
  },
};

async function isProposed(conversation: Conversation): Promise<boolean> {
  const { thread, isBusy } = conversation;
  if (thread === undefined || isBusy) return false;
  return (await thread.questions()).some(({ kind }) => kind === "plan-approval");
}

/** Opens the plan in an editor; the agent goes on meanwhile, and where both changed something it is said. */
async function editInEditor(conversation: Conversation): Promise<void> {
  const { thread, display, terminal } = conversation;
  if (thread === undefined) return conversation.say(shown`There is no plan yet.`);
  const { todos: found, rules } = await thread.plan();
  let base = found;
  const original = planText(base, rules);
  for (let text = original; ;) {
    text = await display.lend(() => edit(text, terminal.env));
    if (text === original) return conversation.say(oneLine(PLAN_SAYS.unchanged));
    let todos: readonly unknown[] = [];
    try {
      todos = planItems(text, base);
      const wanted = planRules(text);
      const made = await thread.editPlan({ todos, base, rules: wanted });
      const isChanged = wanted.join("\n") !== rules.join("\n");
      const changes = diffTodos(base, made);
      return conversation.say(
        ...(changes.length > 0 || !isChanged
          ? harmlessLines(describeChanges(changes) || PLAN_SAYS.unchanged)
          : []),
        ...(isChanged ? [shown`The rules are changed; the agent hears of it at its next call.`] : []),
      );
    } catch (error) {
      const known = HarnessError.from(error);
      if (!known) throw error;
      const isConflict = known instanceof PlanConflict;
      const answer = await display.ask({
        about: [oneLine(known.message), ...(isConflict ? conflictLines(known) : [])],
        question: shown`Edit it again?`,
        choices: [
          { value: "yes", label: shown`yes` },
          { value: "no", label: shown`no, discard my changes` },
        ],
      });
      if (!answer || !("value" in answer) || answer.value === "no") return;
      if (!isConflict) continue;
      text = conflictText(known, { base, sent: todos, rules: planRules(text) });
      base = [...known.todos];
    }
  }
}
