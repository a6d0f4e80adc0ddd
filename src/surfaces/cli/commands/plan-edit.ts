import { confirm, isCancel } from "@clack/prompts";
import { HarnessError } from "../../../errors.ts";
import { describeChanges, diffTodos, renderMarkdown } from "../../../plan/index.ts";
import { createRunAgent } from "../../../runs/agent.ts";
import { readPlan, writePlan } from "../../../runs/edit-plan.ts";
import { modelFor, OFFLINE } from "../../../runs/model.ts";
import { editedPlan } from "../../../runs/questions.ts";
import type { SqliteSaver } from "../../../storage/index.ts";
import { edit } from "../editor.ts";
import { EXIT } from "../exit-codes.ts";
import { canAsk, type Terminal } from "../terminal.ts";
import { findThread, statePath, withSaver } from "../threads.ts";
import { settingsOf } from "./resume.ts";

export interface PlanEditFlags {
  thread: string;
  state?: string | undefined;
}

const HELP = `<!-- One item per line. Marks: [ ] pending, [>] in progress, [x] completed, [!] blocked, [-] cancelled.
     Keep the #ids of items you keep; write new items without one. Save and close to apply. -->
`;

/** `holdfast plan edit`: opens a thread's plan in an editor, checks it and applies it. */
export async function planEdit({ thread, state }: PlanEditFlags, terminal: Terminal): Promise<number> {
  return withSaver(statePath(state, terminal), async (saver) => {
    const { id } = await findThread(saver, thread);
    const release = await saver.acquireThread(id);
    try {
      return await editPlan(saver, id, terminal);
    } finally {
      await release();
    }
  });
}

async function editPlan(saver: SqliteSaver, thread: string, terminal: Terminal): Promise<number> {
  const { stdout, env } = terminal;
  const settings = await settingsOf(saver, thread);
  const { model } = await modelFor(OFFLINE, { env, isWatched: false });
  const agent = createRunAgent({ settings, model, checkpointer: saver });
  const before = await readPlan(agent, thread);
  const original = HELP + renderMarkdown(before);
  let markdown = original;
  for (;;) {
    markdown = await edit(markdown, { name: `${thread}.md`, env });
    if (markdown === original) {
      stdout.write("Nothing was changed.\n");
      return EXIT.done;
    }
    try {
      await writePlan(agent, thread, editedPlan(markdown).todos);
      break;
    } catch (error) {
      const known = HarnessError.from(error);
      if (known?.code !== "invalid-plan" || !canAsk(terminal, {})) throw error;
      stdout.write(`${known.message}\n`);
      const again = await confirm({ message: "Edit it again? (No discards your changes)" });
      if (isCancel(again) || !again) throw error;
    }
  }
  stdout.write(`${describeChanges(diffTodos(before, await readPlan(agent, thread)))}\n`);
  return EXIT.done;
}
