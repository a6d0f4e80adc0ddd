import { dispatchCustomEvent } from "@langchain/core/callbacks/dispatch";
import { commandOutput, type CommandOutput } from "../../files/shell/index.ts";

/** A custom event of LangChain's callbacks: a running command has printed something. */
export const COMMAND_OUTPUT = "command-output";

/** The data of a `COMMAND_OUTPUT` event. */
export interface PrintedSoFar {
  call: string;
  /** The last lines so far. */
  text: string;
}

const INTERVAL_MS = 1000;
const MOST_LINES = 8;
const MOST_CHARACTERS = 1000;

/** Does a call that runs a command. Once a second it tells what the command has printed, if that has changed. */
export async function withOutputTold<Result>(call: string, work: () => Promise<Result>): Promise<Result> {
  const outer = commandOutput.getStore();
  const output: CommandOutput = {};
  let told = "";
  const tell = (): void => {
    const text = lastLines(output.printed?.() ?? "");
    if (text === told) return;
    told = text;
    const data: PrintedSoFar = { call, text };
    // Dispatching fails outside of a run.
    void dispatchCustomEvent(COMMAND_OUTPUT, data).catch(() => {});
  };
  // The record of a stopped call reads it, too. Calls of a sub-agent may share one.
  if (outer) outer.printed = () => output.printed?.() ?? "";
  const timer = setInterval(tell, INTERVAL_MS).unref();
  try {
    return await commandOutput.run(output, work);
  } finally {
    clearInterval(timer);
  }
}

/** The last lines of a command's output, as a terminal would show them: a line that is written again stands once. */
export function lastLines(printed: string): string {
  const lines = printed
    .slice(-MOST_CHARACTERS * 4)
    .trimEnd()
    .split(/\r?\n/);
  const written = lines.map((line) => line.slice(line.lastIndexOf("\r") + 1));
  return written.slice(-MOST_LINES).join("\n").slice(-MOST_CHARACTERS).toWellFormed();
}
