import type { ThreadStore } from "../../../storage/index.ts";
import type { Host } from "../../../threads/host/index.ts";
import { isAsking, settingsOfThread } from "../../../threads/thread/index.ts";
import { createdAt, hasFailed, updatedAt, type ThreadInfo } from "../http/index.ts";

/** A thread in the page's list. */
export interface PageThread {
  id: string;
  title?: string;
  /** Epoch milliseconds. */
  createdAt: number;
  updatedAt: number;
  todos: { done: number; total: number };
  status: "running" | "waiting" | "stopped" | "failed" | "done";
  dir?: string;
  /** Created by another program, and read-only here. */
  isForeign?: true;
}

export async function threadOut(
  info: ThreadInfo,
  { host, saver }: { host: Host; saver: ThreadStore },
): Promise<PageThread> {
  const { id, summary, hosted } = info;
  const graph = host.graph(host.graphName(hosted));
  const dir = (await settingsOfThread(saver, id))?.dir;
  const firstTitle = hosted?.metadata["title"];
  const title = summary?.title ?? (typeof firstTitle === "string" ? firstTitle : undefined);
  return {
    id,
    ...(title !== undefined && { title }),
    createdAt: createdAt(info),
    updatedAt: updatedAt(info),
    todos: summary?.todos ?? { done: 0, total: 0 },
    status: await statusOf(info, { host, saver }),
    ...(dir !== undefined && { dir }),
    ...((await graph.isForeign?.(id)) && { isForeign: true as const }),
  };
}

async function statusOf(
  info: ThreadInfo,
  { host, saver }: { host: Host; saver: ThreadStore },
): Promise<PageThread["status"]> {
  const { id, summary } = info;
  if ((await host.isBusy(id)) || summary?.state === "running") return "running";
  if (summary?.state === "interrupted" && (await isAsking(saver, id))) return "waiting";
  if (hasFailed(info)) return "failed";
  const hasOpenItems = summary !== undefined && summary.todos.done < summary.todos.total;
  return summary?.state === "done" && !hasOpenItems ? "done" : "stopped";
}
