import { resolve } from "node:path";
import { replay } from "../../../../threads/record/index.ts";
import { readPrices } from "../../../../threads/view/index.ts";
import { EXIT } from "../../exit-codes.ts";
import { exact, oneLine, shown } from "../../output/index.ts";
import type { Terminal } from "../../terminal.ts";
import { withThread, threadFile, threadText, writeNew, type StateFlags } from "../../threads/index.ts";

export interface ExportFlags extends StateFlags {
  thread: string;
  file?: string;
  force?: boolean;
}

/** `holdfast export`: writes a thread to one file, by default a self-contained HTML page. */
export async function exportThread(flags: ExportFlags, terminal: Terminal): Promise<number> {
  const { cwd, env, stdout } = terminal;
  const { id, text } = await withThread(flags, terminal, async (hostThread, summary) => {
    const isRunning = summary.state === "running";
    const thread = await hostThread.read();
    const questions = await thread.questions();
    const events = await replay(thread, { questions, isRunning });
    const title = summary.title ?? summary.id;
    const prices = readPrices(env["HOLDFAST_PRICES"]);
    return {
      id: summary.id,
      text: threadText({ title, events, questions, prices }, flags.file ?? "", ".html"),
    };
  });
  if (flags.file === "-") {
    stdout.write(exact(text, stdout));
    return EXIT.done;
  }
  const target = resolve(cwd, flags.file ?? threadFile(id, ".html"));
  await writeNew(target, text, { force: flags.force, hint: "; --force replaces it" });
  stdout.write(shown`The thread is in ${oneLine(target)}.\n`);
  return EXIT.done;
}
