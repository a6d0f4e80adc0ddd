import { PLAN_COMMAND, PLAN_SAYS, planWish } from "../../../../threads/edit/index.ts";
import { MAIN } from "../../../../threads/view/index.ts";
import { oneLine, shown } from "../../output/index.ts";
import { editInEditor, conflictLines, editPlanText } from "../../threads/index.ts";
import { planLines, ruleLines } from "../../view/index.ts";
import type { SessionConversation, SlashCommand } from "../conversation.ts";

export const plan: SlashCommand = {
  ...PLAN_COMMAND,
  isBeside: true,
  run: async (args, conversation) => {
    const wish = planWish(args);
    // A list of items as an argument is not supported here: the editor is for that.
    if (!wish || wish.rest !== "") return conversation.say(oneLine(PLAN_SAYS.unknown(args)));
    if (wish.to === "edit") return editPlan(conversation);
    // A proposed plan without an answer is asked about again.
    if (wish.to !== "clear" && (await isProposed(conversation))) return conversation.goOn();
    if (wish.to === "approve") {
      conversation.settings = { ...conversation.settings, approve: "first" };
      return conversation.say(oneLine(PLAN_SAYS.approve));
    }
    const { thread, paint } = conversation;
    if (thread === undefined) return conversation.say(oneLine(PLAN_SAYS.none));
    if (wish.to === "clear") {
      await thread.clearPlan();
      return conversation.say(oneLine(`${PLAN_SAYS.cleared} ${PLAN_SAYS.heard}`));
    }
    const { todos, rules } = await thread.plan();
    if (todos.length === 0) return conversation.say(oneLine(PLAN_SAYS.none));
    conversation.say(...planLines(todos, MAIN, paint), ...ruleLines(rules, MAIN, paint));
  },
};

async function isProposed(conversation: SessionConversation): Promise<boolean> {
  const { thread, isBusy } = conversation;
  if (thread === undefined || isBusy) return false;
  return (await thread.questions()).some(({ kind }) => kind === "plan-approval");
}

/** Opens the plan in an editor. The agent continues meanwhile; conflicts are shown, to edit again. */
async function editPlan(conversation: SessionConversation): Promise<void> {
  const { thread, display, terminal } = conversation;
  if (thread === undefined) return conversation.say(shown`There is no plan yet.`);
  const lines = await editPlanText(thread, {
    edit: (text) => display.lend(() => editInEditor(text, terminal.env)),
    apply: (change) => thread.editPlan(change, { onWait: () => conversation.say(oneLine(PLAN_SAYS.waits)) }),
    isAgain: async (refused) => {
      const answer = await display.ask({
        about: [oneLine(refused.message), ...conflictLines(refused)],
        question: shown`Edit it again?`,
        choices: [
          { value: "yes", label: shown`yes` },
          { value: "no", label: shown`no, discard my changes` },
        ],
      });
      return answer !== undefined && "value" in answer && answer.value === "yes";
    },
  });
  if (lines) conversation.say(...lines);
}
