import { fstatSync } from "node:fs";
import { shown } from "../output/index.ts";
import type { Terminal } from "../terminal.ts";
import { refuse } from "../wording.ts";

/** The most characters of standard input, which every request of the run contains. */
const MAX_LENGTH = 200_000;

/** The time after which a hint says what the command waits for. */
const HINT_MS = 3000;

/** Reads standard input to its end. Throws `invalid-options` if it is too long or not text. */
export async function readStandardInput({ stdin, stderr }: Terminal): Promise<string> {
  const hint = shown`holdfast: waiting for the end of standard input (Ctrl-D, or < /dev/null for none)\n`;
  const timer = setTimeout(() => stderr.write(hint), HINT_MS);
  let text = "";
  try {
    for await (const chunk of stdin.setEncoding("utf8")) {
      text += String(chunk);
      if (text.length > MAX_LENGTH) fail(`is longer than ${MAX_LENGTH} characters, too much to send along`);
    }
  } finally {
    clearTimeout(timer);
  }
  if (text.includes("\0")) fail("is not text");
  return text.trim();
}

/**
 * Whether standard input is a pipe or a file: `… | holdfast run` or `holdfast run < file`. A terminal, or a socket
 * inherited from another program, may never end.
 */
export function isPiped({ stdin }: Pick<Terminal, "stdin">): boolean {
  if (stdin.fd === undefined) return false;
  const stats = fstatSync(stdin.fd);
  return stats.isFIFO() || stats.isFile();
}

function fail(problem: string): never {
  refuse(`Standard input ${problem}: save it as a file, and name it in the task of a run with --dir.`);
}
