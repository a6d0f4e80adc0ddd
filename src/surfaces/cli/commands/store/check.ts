import { checkStore, type Problem, type Progress } from "../../../../storage/care/index.ts";
import { isDatabaseUrl } from "../../../../storage/open/index.ts";
import { EXIT } from "../../exit-codes.ts";
import { oneLine, shown } from "../../output/index.ts";
import type { Terminal } from "../../terminal.ts";
import { existingState, shownState, type StateFlags } from "../../threads/index.ts";

/** `holdfast check`: reads all threads from end to end and says what is damaged. */
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
    ? "What is lost comes from a backup of the database."
    : "holdfast repair saves what can be saved into a new file.";
  stdout.write(shown`${oneLine(shownState(path))} is damaged. ${oneLine(advice)}\n`);
  return EXIT.failed;
}

/** The problems, under the thread that has them; those of the file as such come first. */
export function writeProblems(problems: readonly Problem[], { stdout }: Terminal): void {
  const threads = [...new Set(problems.map(({ thread }) => thread))];
  for (const thread of threads.toSorted((a, b) => (a ?? "").localeCompare(b ?? ""))) {
    stdout.write(shown`${oneLine(thread ?? "the file")}:\n`);
    const own = problems.filter((problem) => problem.thread === thread);
    for (const { what } of own.slice(0, MOST)) stdout.write(shown`  ${oneLine(what)}\n`);
    if (own.length > MOST) stdout.write(shown`  and ${own.length - MOST} more\n`);
  }
}

/** Enough to see what is the matter. */
const MOST = 10;

/** Shows how far something is, where a person looks on. */
export function progressOn({ stderr }: Terminal, what: string): (progress: Progress) => void {
  let last = "";
  return ({ done, total }) => {
    const percent = Math.min(100, Math.floor((100 * done) / Math.max(1, total)));
    const line = shown`${oneLine(what)} ${percent} %`;
    if (!stderr.isTTY || line === last) return;
    last = line;
    stderr.write(done >= total ? shown`\r\u001B[K` : shown`\r${line}`);
  };
}
