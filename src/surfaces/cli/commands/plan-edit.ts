import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HarnessError, type HarnessErrorCode } from "../../../errors.ts";
import { describeChanges, diffTodos } from "../../../plan/index.ts";
import { openQuestions, readPlan, writePlan } from "../../../runs/thread.ts";
import type { SqliteSaver } from "../../../storage/index.ts";
import { edit } from "../editor.ts";
import { EXIT } from "../exit-codes.ts";
import { harmless, oneLine, shown } from "../output/harmless.ts";
import { planItems, planText } from "../plan-text.ts";
import { confirmed } from "../prompts.ts";
import { canAsk, type Terminal } from "../terminal.ts";
import { agentOf, settingsOf } from "../thread-agent.ts";
import { findThread, statePath, withSaver } from "../threads.ts";
import { quoted } from "../wording.ts";

export interface PlanEditFlags {
  thread: string;
  state?: string | undefined;
}

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

/** What another text may mend. */
const REFUSED: readonly HarnessErrorCode[] = [
  "invalid-plan",
  "invalid-options",
  "plan-conflict",
  "turn-unfinished",
];

async function editPlan(saver: SqliteSaver, thread: string, terminal: Terminal): Promise<number> {
  const { stdout, env } = terminal;
  const agent = await agentOf(saver, thread);
  if (!(await settingsOf(saver, thread)).plan) {
    throw new HarnessError(
      "invalid-options",
      `Thread ${quoted(thread)} has no plan: it was run with --no-plan.`,
    );
  }
  const waiting = await openQuestions(agent, thread);
  if (waiting.some(({ kind }) => kind === "plan-approval")) {
    const id = quoted(thread);
    throw new HarnessError(
      "invalid-options",
      `A plan waits for your approval in ${id}: answer with holdfast resume ${id}, and --answer @plan.md for one of yours.`,
    );
  }
  const before = await readPlan(agent, thread);
  const original = planText(before);
  let markdown = original;
  for (;;) {
    markdown = await edit(markdown, env);
    if (markdown === original) {
      stdout.write(shown`Nothing was changed.\n`);
      return EXIT.done;
    }
    try {
      await writePlan(agent, thread, { todos: planItems(markdown, before), base: before });
      break;
    } catch (error) {
      const known = HarnessError.from(error);
      if (!known || !REFUSED.includes(known.code)) throw error;
      if (!canAsk(terminal, {})) throw await withText(known, markdown);
      stdout.write(shown`${oneLine(known.message)}\n`);
      if (!(await confirmed(shown`Edit it again? (No discards your changes)`, { terminal }))) throw error;
    }
  }
  const changes = describeChanges(diffTodos(before, await readPlan(agent, thread)));
  stdout.write(shown`${harmless(changes)}\n`);
  return EXIT.done;
}

/** The same error, with where the text is that would be lost otherwise. */
async function withText({ code, message }: HarnessError, markdown: string): Promise<HarnessError> {
  const file = join(await mkdtemp(join(tmpdir(), "holdfast-")), "plan.md");
  await writeFile(file, markdown);
  return new HarnessError(code, `${message} Your text is in ${file}.`);
}
