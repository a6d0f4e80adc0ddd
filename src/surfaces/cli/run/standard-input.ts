import { fstatSync } from "node:fs";
import { shown } from "../output/index.ts";
import type { Terminal } from "../terminal.ts";
import { refuse } from "../wording.ts";

/** The most bytes of standard input, which the model gets with every request of the run. */
const MOST = 200_000;

/** When somebody who waits should hear for what. */
const SILENT_MS = 3000;

/** Reads standard input to its end. Throws `invalid-options` when it is too much for a model, or no text. */
export async function readStandardInput({ stdin, stderr }: Terminal): Promise<string> {
  const hint = shown`holdfast: waiting for the end of standard input (Ctrl-D, or < /dev/null for none)\n`;
  const timer = setTimeout(() => stderr.write(hint), SILENT_MS);
  let text = "";
  try {
    for await (const chunk of stdin.setEncoding("utf8")) {
      text += String(chunk);
      if (text.length > MOST) fail(`is longer than ${MOST} characters, too much to send along`);
    }
  } finally {
    clearTimeout(timer);
  }
  if (text.includes("\0")) fail("is not text");
  return text.trim();
}

/**
 * Whether somebody has put text there for us: `… | holdfast run` or `holdfast run < file`. A socket, as other programs
 * hand it down, or a terminal may never end.
 */
export function isPiped({ stdin }: Pick<Terminal, "stdin">): boolean {
  if (stdin.fd === undefined) return false;
  const found = fstatSync(stdin.fd);
  return found.isFIFO() || found.isFile();
}

function fail(what: string): never {
  refuse(`Standard input ${what}: save it as a file, and name it in the task of a run with --dir.`);
}
