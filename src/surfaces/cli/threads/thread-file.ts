import { writeFile } from "node:fs/promises";
import { extname } from "node:path";
import { jsonText } from "../../../threads/json-text/index.ts";
import { exportHtml } from "../../../threads/log/html/index.ts";
import { costOfThread, threadOf, type ThreadEvents, exportMarkdown } from "../../../threads/log/index.ts";
import type { Prices } from "../../../threads/view/index.ts";
import { refuse } from "../wording.ts";

/** Writers of an exported thread, by file extension. */
const WRITERS: Readonly<Record<string, (thread: WrittenThread) => string>> = {
  ".html": ({ title, prices, ...record }) => {
    const thread = threadOf(record);
    return exportHtml(title, thread, costOfThread(thread, prices));
  },
  ".md": ({ title, prices, ...record }) => {
    const thread = threadOf(record);
    return exportMarkdown(title, thread, { events: record.events, cost: costOfThread(thread, prices) });
  },
  ".json": ({ events }) => `${events.map((event) => jsonText(event)).join("\n")}\n`,
};

export interface WrittenThread extends ThreadEvents {
  title: string;
  prices?: Prices;
}

/** The text of an exported thread; `fallback` is the format for an unknown file extension. */
export function threadText(thread: WrittenThread, file: string, fallback: ".html" | ".md"): string {
  return (WRITERS[extname(file).toLowerCase()] ?? WRITERS[fallback]!)(thread);
}

/** The default file name of an exported thread. */
export function threadFile(thread: string, ending: ".html" | ".md"): string {
  return `${thread.replaceAll(/[^\w.-]+/g, "-")}${ending}`;
}

/** Writes a new file. Throws `invalid-options` if it exists (without `force`) or cannot be written. */
export async function writeNew(
  file: string,
  text: string,
  { force = false, hint = "" }: { force?: boolean; hint?: string } = {},
): Promise<void> {
  try {
    await writeFile(file, text, { flag: force ? "w" : "wx" });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === "EEXIST" ? `it is there already${hint}` : message;
    refuse(`${file} cannot be written: ${reason}.`);
  }
}
