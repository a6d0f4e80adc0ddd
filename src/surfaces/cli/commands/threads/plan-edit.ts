import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HarnessError, type HarnessErrorCode } from "../../../../errors.ts";
import type { Todo } from "../../../../plan/index.ts";
import type { ThreadStore } from "../../../../storage/index.ts";
import type { HostThread } from "../../../../threads/host/index.ts";
import type { PlanEdit } from "../../../../threads/plan/index.ts";
import { EXIT } from "../../exit-codes.ts";
import { interruptible } from "../../interruption.ts";
import { joined, oneLine, shown } from "../../output/index.ts";
import { confirmed } from "../../prompts.ts";
import { canAsk, type Terminal } from "../../terminal.ts";
import {
  editInEditor,
  conflictLines,
  editPlanText,
  settingsOf,
  withThread,
  type StateFlags,
} from "../../threads/index.ts";
import { quoted, refuse } from "../../wording.ts";

/**
 * `holdfast plan edit`: opens a thread's plan in an editor, checks it and applies it. The thread is not locked meanwhile:
 * if another process runs it, that process applies the edit.
 */
export function planEdit(flags: StateFlags & { thread: string }, terminal: Terminal): Promise<number> {
  return withThread(flags, terminal, async (thread, summary, saver) => {
    await checkEditable(saver, thread);
    if (summary.state === "running") {
      const id = oneLine(quoted(summary.id));
      terminal.stdout.write(shown`${id} is running; your changes are made between two of its steps.\n`);
    }
    return editPlan(thread, terminal);
  });
}

/** Throws `invalid-options` if the thread has no plan, or the plan waits for approval. */
async function checkEditable(saver: ThreadStore, thread: HostThread): Promise<void> {
  const id = quoted(thread.id);
  if (!(await settingsOf(saver, thread.id)).plan) {
    refuse(`Thread ${id} has no plan: it was run with --no-plan.`);
  }
  if ((await thread.questions()).some(({ kind }) => kind === "plan-approval")) {
    refuse(
      `A plan waits for your approval in ${id}: answer with holdfast resume ${id}, and --answer @plan.md for one of yours.`,
    );
  }
}

/** Errors that editing the text again may fix. */
const CORRECTABLE: readonly HarnessErrorCode[] = [
  "invalid-plan",
  "invalid-options",
  "plan-conflict",
  "turn-unfinished",
];

async function editPlan(thread: HostThread, terminal: Terminal): Promise<number> {
  const { stdout, stderr, env } = terminal;
  let isWithdrawn = false;
  const lines = await editPlanText(thread, {
    edit: (text) => editInEditor(text, env),
    apply: (change) => applyEdit(thread, change, terminal),
    isAgain: async (refused, text) => {
      isWithdrawn = refused.code === "edit-withdrawn";
      if (isWithdrawn) {
        stderr.write(shown`holdfast: ${oneLine((await withText(refused, text)).message)}\n`);
        return false;
      }
      if (!CORRECTABLE.includes(refused.code)) throw refused;
      if (!canAsk(terminal, {})) throw await withText(refused, text);
      stdout.write(shown`${joined([oneLine(refused.message), ...conflictLines(refused)], "\n")}\n`);
      if (await confirmed(shown`Edit it again? (No discards your changes)`, terminal)) return true;
      throw refused;
    },
  });
  if (isWithdrawn) return EXIT.interrupted;
  stdout.write(shown`${joined(lines ?? [], "\n")}\n`);
  return EXIT.done;
}

/** Applies an edit, here or in the process that runs the thread. Ctrl-C withdraws it. */
function applyEdit(thread: HostThread, change: PlanEdit, { stdout }: Terminal): Promise<Todo[]> {
  const onWait = (): void => {
    stdout.write(shown`Waiting for the step to end; Ctrl-C withdraws your changes.\n`);
  };
  return interruptible(stdout, (signal) => thread.editPlan(change, { signal, onWait }));
}

/** Saves the text, which would be lost otherwise, and adds its file to the message of an error. */
async function withText({ code, message }: HarnessError, markdown: string): Promise<HarnessError> {
  const file = join(await mkdtemp(join(tmpdir(), "holdfast-")), "plan.md");
  await writeFile(file, markdown);
  return new HarnessError(code, `${message} Your text is in ${file}.`);
}
