import stringWidth from "string-width";
import { isAsking } from "../../../runs/thread.ts";
import type { SqliteSaver, ThreadSummary } from "../../../storage/index.ts";
import { EXIT } from "../exit-codes.ts";
import { ago } from "../output/amounts.ts";
import { fit } from "../output/frame.ts";
import { oneLine } from "../output/paint.ts";
import { isLive, paintOf, type Terminal } from "../terminal.ts";
import { statePath, withSaver } from "../threads.ts";

export interface ThreadsFlags {
  state?: string | undefined;
  limit: number;
  json?: boolean | undefined;
}

/** `holdfast threads`: lists threads, the last used first. */
export async function threads({ state, limit, json }: ThreadsFlags, terminal: Terminal): Promise<number> {
  const list = await withSaver(statePath(state, terminal), async (saver) => {
    const found = await saver.listThreads({ limit });
    return Promise.all(found.map((thread) => withoutTurnLimit(saver, thread)));
  });
  const { stdout } = terminal;
  if (json) {
    for (const thread of list) stdout.write(`${JSON.stringify(thread)}\n`);
  } else if (list.length === 0) {
    stdout.write('No threads yet. Start one with holdfast run "task".\n');
  } else {
    const columns = isLive(terminal) ? stdout.columns || 80 : Number.POSITIVE_INFINITY;
    const paint = paintOf(terminal);
    const [head, ...rows] = table(list.map((thread) => cells(thread, Date.now())));
    stdout.write(`${[paint("dim", head!), ...rows].map((line) => fit(line, columns)).join("\n")}\n`);
  }
  return EXIT.done;
}

/** A thread whose sub-agents are out of turns waits for nobody: it has stopped half way. */
async function withoutTurnLimit(saver: SqliteSaver, thread: ThreadSummary): Promise<ThreadSummary> {
  const isStopped = thread.state === "interrupted" && !(await isAsking(saver, thread.id));
  return isStopped ? { ...thread, state: "idle" } : thread;
}

/** What a person calls the states of a thread; one that has ended with open items is `open`. */
const STATES = { running: "running", interrupted: "waiting", idle: "stopped", done: "done" };

function cells({ id, title, state, todos, updatedAt }: ThreadSummary, now: number): string[] {
  const progress = todos.total > 0 ? `${todos.done}/${todos.total}` : "-";
  const isOpen = state === "done" && todos.done < todos.total;
  return [
    oneLine(id),
    isOpen ? "open" : STATES[state],
    progress,
    ago(now - updatedAt.getTime()),
    oneLine(title ?? ""),
  ];
}

function table(rows: readonly string[][]): string[] {
  const all = [["THREAD", "STATE", "PROGRESS", "LAST ACTIVITY", "TITLE"], ...rows];
  const widths = all[0]!.map((_, at) => Math.max(...all.map((row) => stringWidth(row[at]!))));
  return all.map((row) =>
    row
      .map((cell, at) => cell + " ".repeat(widths[at]! - stringWidth(cell)))
      .join("  ")
      .trimEnd(),
  );
}
