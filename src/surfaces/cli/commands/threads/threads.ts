import stringWidth from "string-width";
import type { PlanMemory } from "../../../../middleware/plan/index.ts";
import type { ThreadStore, ThreadSummary } from "../../../../storage/index.ts";
import { ago } from "../../../../threads/log/index.ts";
import type { RunSettings } from "../../../../threads/prepare/index.ts";
import { isAsking, settingsOfThread, stateWord } from "../../../../threads/thread/index.ts";
import { EXIT } from "../../exit-codes.ts";
import { fit, joined, oneLine, padded, shown, shownJson, type Harmless } from "../../output/index.ts";
import { isLive, paintOf, type Terminal } from "../../terminal.ts";
import { directoryName, isHere, MANY, statePath, withSaver, type StateFlags } from "../../threads/index.ts";
import { asTyped } from "../../wording.ts";

export interface ThreadsFlags extends StateFlags {
  limit: number;
  all?: boolean;
  here?: boolean;
  json?: boolean;
}

/** A listed thread: its summary, its directory, and the number of its plans if it had several. */
type Listed = ThreadSummary & Pick<RunSettings, "dir" | "startedIn"> & Pick<PlanMemory, "plans">;

/** `holdfast threads`: lists threads, the latest first. */
export async function threads(flags: ThreadsFlags, terminal: Terminal): Promise<number> {
  const { stdout } = terminal;
  const { list, total } = await withSaver(statePath(flags, terminal), (saver) =>
    listed(saver, flags, terminal),
  );
  if (flags.json) {
    for (const thread of list) stdout.write(shown`${shownJson(thread)}\n`);
  } else if (list.length === 0) {
    const where = flags.here
      ? "No threads of this directory. holdfast threads lists all."
      : "No threads yet.";
    const hint = asTyped(`${where} Start one with holdfast run "task".`, terminal.env);
    stdout.write(shown`${oneLine(hint)}\n`);
  } else {
    const columns = isLive(terminal) ? stdout.columns || 80 : Number.POSITIVE_INFINITY;
    const paint = paintOf(terminal);
    const [head, ...rows] = table(list.map((thread) => cells(thread, terminal)));
    const lines = [paint("dim", head!), ...rows].map((line) => fit(line, columns));
    stdout.write(shown`${joined(lines, "\n")}\n`);
    if (list.length < total) {
      const more = `The latest ${list.length} of ${total}; holdfast threads --all lists all.`;
      stdout.write(shown`${paint("dim", oneLine(asTyped(more, terminal.env)))}\n`);
    }
  }
  return EXIT.done;
}

/** The threads to show, and the total number of threads. */
async function listed(
  saver: ThreadStore,
  { limit, all, here }: ThreadsFlags,
  terminal: Terminal,
): Promise<{ list: Listed[]; total: number }> {
  const summaries = await saver.listThreads({ limit: MANY });
  const maximum = all ? MANY : limit;
  // Details are read only for threads that are listed or have to be filtered.
  const details = await Promise.all(
    (here ? summaries : summaries.slice(0, maximum)).map(async (thread): Promise<Listed> => {
      const { dir, startedIn } = (await settingsOfThread(saver, thread.id)) ?? {};
      const { _plan: memory } = await saver.getValues(thread.id, ["_plan"]);
      const { plans } = (memory ?? {}) as Partial<PlanMemory>;
      return {
        ...thread,
        plans,
        dir,
        startedIn,
      };
    }),
  );
  const matches = here ? details.filter((thread) => isHere(thread, terminal)) : details;
  return {
    list: await Promise.all(matches.slice(0, maximum).map((thread) => withoutTurnLimit(saver, thread))),
    total: here ? matches.length : summaries.length,
  };
}

/** Corrects the state of a thread whose sub-agents reached the turn limit: it asks nothing, so it is idle. */
async function withoutTurnLimit(saver: ThreadStore, thread: Listed): Promise<Listed> {
  const isStopped = thread.state === "interrupted" && !(await isAsking(saver, thread.id));
  return isStopped ? { ...thread, state: "idle" } : thread;
}

function cells(thread: Listed, terminal: Terminal): Harmless[] {
  const { id, title, todos, updatedAt, plans } = thread;
  const current = todos.total > 0 ? `${todos.done}/${todos.total}` : "-";
  const progress = plans === undefined ? current : `${current} of plan ${plans}`;
  return [
    id,
    stateWord(thread),
    progress,
    ago(updatedAt.getTime(), Date.now()),
    directoryName(thread, terminal),
    title ?? "",
  ].map(oneLine);
}

const HEAD = ["THREAD", "STATE", "PROGRESS", "LAST ACTIVITY", "DIRECTORY", "TITLE"].map(oneLine);

function table(rows: readonly Harmless[][]): Harmless[] {
  const all = [HEAD, ...rows];
  const widths = HEAD.map((_, at) => Math.max(...all.map((row) => stringWidth(row[at]!))));
  return all.map((row) => {
    const filled = row.slice(0, row.findLastIndex((cell) => cell !== "") + 1);
    const columns = filled.map((cell, at) => (at < filled.length - 1 ? padded(cell, widths[at]!) : cell));
    return joined(columns, "  ");
  });
}
