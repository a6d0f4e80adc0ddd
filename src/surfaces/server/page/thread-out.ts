import type { ThreadStore } from "../../../storage/index.ts";
import type { Host } from "../../../threads/host/index.ts";
import { isAsking, isForeign, settingsOfThread } from "../../../threads/thread/index.ts";
import { createdAt, hasFailed, updatedAt, type KnownThread } from "../http/index.ts";

/** A thread as the page lists it. */
export interface PageThread {
  id: string;
  title?: string;
  /** Epoch milliseconds. */
  createdAt: number;
  updatedAt: number;
  todos: { done: number; total: number };
  status: "running" | "waiting" | "stopped" | "failed" | "done";
  dir?: string;
  /** Made by another program: it can be looked at, and nobody here goes on with it. */
  isForeign?: true;
}

export async function threadOut(
  known: KnownThread,
  { host, saver }: { host: Host; saver: ThreadStore },
): Promise<PageThread> {
  const { id, summary, hosted } = known;
  const dir = (await settingsOfThread(saver, id))?.dir;
  const noted = hosted?.metadata["title"];
  const title = summary?.title ?? (typeof noted === "string" ? noted : undefined);
  return {
    id,
    ...(title !== undefined && { title }),
    createdAt: createdAt(known),
    updatedAt: updatedAt(known),
    todos: summary?.todos ?? { done: 0, total: 0 },
    status: await statusOf(known, { host, saver }),
    ...(dir !== undefined && { dir }),
    ...((await isForeign(saver, id)) && { isForeign: true as const }),
  };
}

async function statusOf(
  known: KnownThread,
  { host, saver }: { host: Host; saver: ThreadStore },
): Promise<PageThread["status"]> {
  const { id, summary } = known;
  if ((await host.isBusy(id)) || summary?.state === "running") return "running";
  if (summary?.state === "interrupted" && (await isAsking(saver, id))) return "waiting";
  if (hasFailed(known)) return "failed";
  const isLeft = summary !== undefined && summary.todos.done < summary.todos.total;
  return summary?.state === "done" && !isLeft ? "done" : "stopped";
}
