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

/** The most choices without scrolling. */
const MAX_ITEMS = 12;

/** Asks the user to choose. Undefined on Ctrl-C. */
export async function choose(
  message: Harmless,
  choices: readonly Choice[],
  terminal: Terminal,
): Promise<string | undefined> {
  const choice = await select({ ...streams(terminal), message, maxItems: MAX_ITEMS, options: [...choices] });
  return isCancel(choice) ? undefined : choice;
}

/** The silence after which keys count as an answer, and the longest wait for it. */
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

/** Asks for a line of text. Undefined on Ctrl-C. */
export async function askForWords(
  message: Harmless,
  terminal: Terminal,
  placeholder?: Harmless,
): Promise<string | undefined> {
  const words = await text({ ...streams(terminal), message, placeholder });
  return isCancel(words) ? undefined : (words ?? "");
}

/** Asks for a secret, which is not displayed. Undefined on Ctrl-C. */
export async function askForSecret(message: Harmless, terminal: Terminal): Promise<string | undefined> {
  const secret = await password({ ...streams(terminal), message });
  return isCancel(secret) ? undefined : (secret ?? "");
}

export async function confirmed(message: Harmless, terminal: Terminal): Promise<boolean> {
  const answer = await confirm({ ...streams(terminal), message });
  return !isCancel(answer) && answer;
}

/** The streams for clack, which needs the real output stream. Everything it prints comes from here and is harmless. */
function streams({ stdin, stdout }: Terminal) {
  return { input: stdin, output: stdout as unknown as NodeJS.WriteStream };
}

/** Calls `onLine` for each typed line until the input ends. Returns a function that stops reading. */
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
