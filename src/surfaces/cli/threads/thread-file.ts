import { writeFile } from "node:fs/promises";
import { extname } from "node:path";
import { jsonText } from "../../../threads/json-text/index.ts";
import { exportHtml } from "../../../threads/story/html/index.ts";
import { costOfThread, threadOf, type ToldThread, exportMarkdown } from "../../../threads/story/index.ts";
import type { Prices } from "../../../threads/view/index.ts";
import { refuse } from "../wording.ts";

/** Formats of an exported thread, by the file's ending. */
const WRITERS: Readonly<Record<string, (thread: WrittenThread) => string>> = {
  ".html": ({ title, prices, ...told }) => {
    const thread = threadOf(told);
    return exportHtml(title, thread, costOfThread(thread, prices));
  },
  ".md": ({ title, prices, ...told }) => {
    const thread = threadOf(told);
    return exportMarkdown(title, thread, { events: told.events, cost: costOfThread(thread, prices) });
  },
  ".json": ({ events }) => `${events.map((event) => jsonText(event)).join("\n")}\n`,
};

export interface WrittenThread extends ToldThread {
  title: string;
  prices?: Prices | undefined;
}

/** The text of a thread's file; `otherwise` is the ending that counts where the file has none of these. */
export function threadText(thread: WrittenThread, file: string, otherwise: ".html" | ".md"): string {
  return (WRITERS[extname(file).toLowerCase()] ?? WRITERS[otherwise]!)(thread);
}

/** The name of a thread's file, where nobody has said one. */
export function threadFile(thread: string, ending: ".html" | ".md"): string {
  return `${thread.replaceAll(/[^\w.-]+/g, "-")}${ending}`;
}

/** Writes a file that is not there yet. Throws `invalid-options` where it cannot be written. */
export async function writeNew(
  file: string,
  text: string,
  { force = false, hint = "" }: { force?: boolean | undefined; hint?: string } = {},
): Promise<void> {
  try {
    await writeFile(file, text, { flag: force ? "w" : "wx" });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === "EEXIST" ? `it is there already${hint}` : message;
    refuse(`${file} cannot be written: ${why}.`);
  }
}
