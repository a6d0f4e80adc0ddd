import { HarnessError } from "../../../../errors.ts";
import { describeChanges, diffTodos } from "../../../../plan/index.ts";
import { requestEdit } from "../../../../runs/mailbox.ts";
import { PlanConflict } from "../../../../runs/merged-plan.ts";
import { planItems } from "../../../../runs/plan-text.ts";
import { openQuestions, readPlan } from "../../../../runs/thread.ts";
import { MAIN } from "../../../../runs/view.ts";
import { edit } from "../../editor.ts";
import { harmlessLines, oneLine, shown } from "../../output/harmless.ts";
import { planLines } from "../../output/lines.ts";
import { conflictLines, conflictText } from "../../plan-conflict.ts";
import { planText } from "../../plan-text.ts";
import type { Conversation, SlashCommand } from "../conversation.ts";

export const plan: SlashCommand = {
  name: "plan",
  usage: "[edit|approve|clear]",
  about: "show the plan, edit it, have each new one approved, or clear it",
  isBeside: true,
  run: async (args, conversation) => {
    if (args === "edit") return editPlan(conversation);
    if (args !== "" && !["approve", "clear"].includes(args)) {
      return conversation.say(oneLine(`/plan takes edit, approve or clear, not ${args}.`));
    }
    // A plan that was proposed and not answered is put again.
    if (args !== "clear" && (await isProposed(conversation))) return conversation.goOn();
    if (args === "approve") {
      conversation.settings = { ...conversation.settings, approve: "first" };
      return conversation.say(shown`New plans wait for your approval from the next message on.`);
    }
    if (args === "clear") return clearPlan(conversation);
    const { thread, paint } = conversation;
    const todos = thread === undefined ? [] : await readPlan(await conversation.agent(), thread);
    conversation.say(...(todos.length > 0 ? planLines(todos, MAIN, paint) : [shown`There is no plan.`]));
  },
};

async function isProposed(conversation: Conversation): Promise<boolean> {
  const { thread, isBusy } = conversation;
  if (thread === undefined || isBusy) return false;
  const questions = await openQuestions(await conversation.agent(), thread);
  return questions.some(({ kind }) => kind === "plan-approval");
}

/** Opens the plan in an editor; the agent goes on meanwhile, and where both changed something it is said. */
async function editPlan(conversation: Conversation): Promise<void> {
  const { thread, face, terminal } = conversation;
  if (thread === undefined) return conversation.say(shown`There is no plan yet.`);
  const agent = await conversation.agent();
  let base = await readPlan(agent, thread);
  const original = planText(base);
  for (let text = original; ;) {
    text = await face.lend(() => edit(text, terminal.env));
    if (text === original) return conversation.say(shown`Nothing was changed.`);
    let todos: readonly unknown[] = [];
    try {
      todos = planItems(text, base);
      const change = { todos, base };
      const made = conversation.edits
        ? await conversation.edits.submit(change)
        : await requestEdit(agent, thread, change, {
            signal: new AbortController().signal,
            onWait: () => {},
          });
      return conversation.say(
        ...harmlessLines(describeChanges(diffTodos(base, made)) || "Nothing was changed."),
      );
    } catch (error) {
      const known = HarnessError.from(error);
      if (!known) throw error;
      const isConflict = known instanceof PlanConflict;
      const answer = await face.ask({
        about: [oneLine(known.message), ...(isConflict ? conflictLines(known) : [])],
        question: shown`Edit it again?`,
        choices: [
          { value: "yes", label: shown`yes` },
          { value: "no", label: shown`no, discard my changes` },
        ],
      });
      if (!answer || !("value" in answer) || answer.value === "no") return;
      if (!isConflict) continue;
      text = conflictText(known, { base, sent: todos });
      base = [...known.todos];
    }
  }
}

async function clearPlan(conversation: Conversation): Promise<void> {
  const { thread } = conversation;
  if (thread === undefined) return conversation.say(shown`There is no plan.`);
  const agent = await conversation.agent();
  const base = await readPlan(agent, thread);
  const todos = base.filter(({ status }) => status === "completed");
  const change = { todos, base };
  if (conversation.edits) await conversation.edits.submit(change);
  else {
    const never = new AbortController().signal;
    await requestEdit(agent, thread, change, { signal: never, onWait: () => {} });
  }
  conversation.say(shown`What was not done is off the plan.`);
}
