import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { confirm, isCancel, password, select, text } from "@clack/prompts";
import type { Harmless } from "./output/index.ts";
import type { Terminal } from "./terminal.ts";

export interface Choice {
  value: string;
  label: Harmless;
  hint?: Harmless;
}

/** More choices than these are scrolled. */
const MOST_SHOWN = 12;

/** Lets a person choose. Undefined when they would rather not (Ctrl-C). */
export async function choose(
  message: Harmless,
  choices: readonly Choice[],
  terminal: Terminal,
): Promise<string | undefined> {
  const chosen = await select({ ...streams(terminal), message, maxItems: MOST_SHOWN, options: [...choices] });
  return isCancel(chosen) ? undefined : chosen;
}

/** The silence after which what comes next is an answer, and the longest wait for it. */
const [QUIET_MS, LONGEST_MS] = [150, 3000];

/** Drops keys that were typed before a question could be read. Ctrl-C still ends the process. */
export async function dropTyped({ stdin }: Pick<Terminal, "stdin">): Promise<void> {
  if (!stdin.isTTY) return;
  let isQuiet = false;
  const drop = (keys: Buffer): void => {
    isQuiet = false;
    if (keys.includes(3)) process.kill(process.pid, "SIGINT");
  };
  stdin.setRawMode(true);
  stdin.on("data", drop);
  for (let waited = 0; !isQuiet && waited < LONGEST_MS; waited += QUIET_MS) {
    isQuiet = true;
    await setTimeout(QUIET_MS);
  }
  stdin.off("data", drop);
  stdin.pause();
  stdin.setRawMode(false);
}

/** Asks for words. Undefined when there are none to come. */
export async function askForWords(
  message: Harmless,
  terminal: Terminal,
  placeholder?: Harmless,
): Promise<string | undefined> {
  const words = await text({ ...streams(terminal), message, ...(placeholder && { placeholder }) });
  return isCancel(words) ? undefined : (words ?? "");
}

/** Asks for a secret, which is not shown. Undefined when there is none to come. */
export async function askForSecret(message: Harmless, terminal: Terminal): Promise<string | undefined> {
  const secret = await password({ ...streams(terminal), message });
  return isCancel(secret) ? undefined : (secret ?? "");
}

export async function confirmed(message: Harmless, terminal: Terminal): Promise<boolean> {
  const answer = await confirm({ ...streams(terminal), message });
  return !isCancel(answer) && answer;
}

/** Prompts write by themselves, and so get the stream itself: what they write is said above, and is harmless. */
function streams({ stdin, stdout }: Terminal) {
  return { input: stdin, output: stdout as unknown as NodeJS.WriteStream };
}

/** Gives each line that is typed, until the function that is returned is called or the input ends. */
export function readLines(
  { stdin }: Pick<Terminal, "stdin">,
  onLine: (line: string) => void,
  onEnd: () => void,
): () => void {
  const lines = createInterface({ input: stdin, terminal: false });
  lines.on("line", onLine);
  lines.on("close", onEnd);
  return () => {
    lines.off("close", onEnd);
    lines.close();
  };
}
