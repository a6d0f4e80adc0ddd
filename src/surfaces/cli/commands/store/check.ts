import { checkStore, type Problem, type Progress } from "../../../../storage/care/index.ts";
import { isDatabaseUrl } from "../../../../storage/open/index.ts";
import { EXIT } from "../../exit-codes.ts";
import { oneLine, shown } from "../../output/index.ts";
import type { Terminal } from "../../terminal.ts";
import { existingState, shownState, type StateFlags } from "../../threads/index.ts";

/** `holdfast check`: reads all threads completely and reports damage. */
export async function check(flags: StateFlags, terminal: Terminal): Promise<number> {
  const path = existingState(flags, terminal);
  const problems = await checkStore(path, { onProgress: progressOn(terminal, "Checking") });
  const { stdout } = terminal;
  if (problems.length === 0) {
    stdout.write(shown`${oneLine(shownState(path))} is whole.\n`);
    return EXIT.done;
  }
  writeProblems(problems, terminal);
  const advice = isDatabaseUrl(path)
    ? "Restore lost data from a backup of the database."
    : "holdfast repair saves what can be saved into a new file.";
  stdout.write(shown`${oneLine(shownState(path))} is damaged. ${oneLine(advice)}\n`);
  return EXIT.failed;
}

/** Prints problems by thread; those of the file itself come first. */
export function writeProblems(problems: readonly Problem[], { stdout }: Terminal): void {
  const threads = [...new Set(problems.map(({ thread }) => thread))];
  for (const thread of threads.toSorted((a, b) => (a ?? "").localeCompare(b ?? ""))) {
    stdout.write(shown`${oneLine(thread ?? "the file")}:\n`);
    const own = problems.filter((problem) => problem.thread === thread);
    for (const { what } of own.slice(0, MAX_PROBLEMS)) stdout.write(shown`  ${oneLine(what)}\n`);
    if (own.length > MAX_PROBLEMS) stdout.write(shown`  and ${own.length - MAX_PROBLEMS} more\n`);
  }
}

/** The most displayed problems of a thread. */
const MAX_PROBLEMS = 10;

/** Returns a function that displays progress in percent, if standard error is a terminal. */
export function progressOn({ stderr }: Terminal, activity: string): (progress: Progress) => void {
  let last = "";
  return ({ done, total }) => {
    const percent = Math.min(100, Math.floor((100 * done) / Math.max(1, total)));
    const line = shown`${oneLine(activity)} ${percent} %`;
    if (!stderr.isTTY || line === last) return;
    last = line;
    stderr.write(done >= total ? shown`\r\u001B[K` : shown`\r${line}`);
  };
}
