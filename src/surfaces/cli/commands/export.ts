import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { HarnessError } from "../../../errors.ts";
import { readPrices } from "../../../runs/prices.ts";
import { replay } from "../../../runs/replay.ts";
import { exportHtml } from "../../../runs/story/html/index.ts";
import { costOfThread, threadOf } from "../../../runs/story/thread.ts";
import { questionsOf } from "../../../runs/thread.ts";
import { EXIT } from "../exit-codes.ts";
import { exact, oneLine, shown } from "../output/harmless.ts";
import type { Terminal } from "../terminal.ts";
import { agentOf } from "../thread-agent.ts";
import { findThread, statePath, withSaver, type StateFlags } from "../threads.ts";

export interface ExportFlags extends StateFlags {
  thread: string;
  file?: string | undefined;
  force?: boolean | undefined;
}

/** `holdfast export`: makes one file of a thread that opens in a browser and needs nothing else. */
export async function exportThread(flags: ExportFlags, terminal: Terminal): Promise<number> {
  const { cwd, env, stdout } = terminal;
  const { id, html } = await withSaver(statePath(flags, terminal), async (saver) => {
    const summary = await findThread(saver, flags.thread);
    const agent = await agentOf(saver, summary.id, terminal);
    const state = await agent.graph.getState({ configurable: { thread_id: summary.id } });
    const questions = await questionsOf(agent, state);
    const isRunning = summary.state === "running";
    const events = await replay(agent.graph, state, { thread: summary.id, questions, isRunning });
    const thread = threadOf({ events, questions });
    const cost = costOfThread(thread, readPrices(env["HOLDFAST_PRICES"]));
    return { id: summary.id, html: exportHtml(summary.title ?? summary.id, thread, cost) };
  });
  if (flags.file === "-") {
    stdout.write(exact(html, stdout));
    return EXIT.done;
  }
  const target = resolve(cwd, flags.file ?? `${id.replaceAll(/[^\w.-]+/g, "-")}.html`);
  await write(target, html, flags.force);
  stdout.write(shown`The thread is in ${oneLine(target)}.\n`);
  return EXIT.done;
}

async function write(target: string, html: string, force = false): Promise<void> {
  try {
    await writeFile(target, html, { flag: force ? "w" : "wx" });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === "EEXIST" ? "it is there already; --force replaces it" : message;
    throw new HarnessError("invalid-options", `${target} cannot be written: ${why}.`);
  }
}
