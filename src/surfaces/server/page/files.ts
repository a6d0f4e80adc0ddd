import type { StateSnapshot } from "@langchain/langgraph";
import { Hono } from "hono";
import { pathMeant } from "../../../files/disk/index.ts";
import { diskBackend } from "../../../files/index.ts";
import { parsePath } from "../../../files/paths/index.ts";
import type { CheckpointSummary } from "../../../storage/index.ts";
import { settingsOfThread, type Thread } from "../../../threads/thread/index.ts";
import {
  fileCallsOf,
  changesOfFiles,
  changesOnDisk,
  lineCounts,
  type NetChange,
} from "../../../threads/undo/index.ts";
import { json, refuse, type ServerEnv } from "../http/index.ts";
import type { PageParts } from "./parts.ts";

interface Values {
  files?: Record<string, string>;
}

/** Routes for the files that a thread changed. */
export function pageFiles(parts: PageParts): Hono<ServerEnv> {
  return new Hono<ServerEnv>()
    .get("/:thread/files", async (c) => {
      const { id } = await parts.access.thread(c);
      const files = (await changesOf(parts, await stateOf(parts, id))).map((change) => ({
        path: change.path,
        ...lineCounts(change),
        kind: kindOf(change),
      }));
      return json(c, { files });
    })
    .get("/:thread/file", async (c) => {
      const { id } = await parts.access.thread(c);
      const path = c.req.query("path") ?? "";
      const change = await fileOf(parts, await stateOf(parts, id), path);
      if (!change) refuse(404, `The thread has no file ${JSON.stringify(path)}.`);
      if (change.denied !== undefined) refuse(403, change.denied);
      return json(c, change);
    });
}

/** A saved thread, and its working directory if it has one. */
interface SavedThread {
  thread: Thread;
  state: StateSnapshot;
  dir: string | undefined;
}

async function stateOf({ host, saver }: PageParts, id: string): Promise<SavedThread> {
  const thread = await host.thread(id).read();
  return { thread, state: await thread.state(), dir: (await settingsOfThread(saver, id))?.dir };
}

async function changesOf({ saver }: PageParts, { thread, state, dir }: SavedThread): Promise<NetChange[]> {
  return dir === undefined
    ? changesOfFiles(await initialFiles(saver, thread.id), ((state.values ?? {}) as Values).files ?? {})
    : changesOnDisk(await fileCallsOf(saver, state), dir);
}

/** A file that the thread has changed or asks to write; undefined for any other file of the directory or the disk. */
async function fileOf(parts: PageParts, saved: SavedThread, name: string): Promise<NetChange | undefined> {
  const path = resolvedPath(name, saved.dir);
  const change = (await changesOf(parts, saved)).find((each) => each.path === path);
  if (change || path === undefined || !(await isAskedFor(path, saved))) return change;
  const { dir } = saved;
  const file = dir === undefined ? undefined : await diskBackend(dir).read(path);
  if (file && !file.ok && file.reason !== "missing") return undefined;
  const content = file?.ok ? file.content : null;
  return { path, before: content, after: content, isKnown: true };
}

/** Whether an open question asks for leave to write a file. */
async function isAskedFor(path: string, { thread, state, dir }: SavedThread): Promise<boolean> {
  return (await thread.questions(state)).some(({ call }) => {
    const { file_path: name } = (call?.args ?? {}) as { file_path?: unknown };
    return call?.name === "write_file" && typeof name === "string" && resolvedPath(name, dir) === path;
  });
}

/** Resolves a path as the file tools do; undefined for one that they refuse. */
function resolvedPath(name: string, dir: string | undefined): string | undefined {
  if (dir !== undefined) return pathMeant(name, dir);
  const parsed = parsePath(name);
  return parsed.ok ? parsed.path : undefined;
}

/** The files in a thread's first checkpoint. */
async function initialFiles(saver: PageParts["saver"], thread: string): Promise<Record<string, string>> {
  const first = await firstCheckpoint(saver, thread);
  if (!first) return {};
  const place = { thread_id: thread, checkpoint_ns: "", checkpoint_id: first.id };
  const saved = await saver.getTuple({ configurable: place });
  const { __start__: start, files } = (saved?.checkpoint.channel_values ?? {}) as Values & {
    __start__?: Values;
  };
  return start?.files ?? files ?? {};
}

/** The oldest checkpoint, without loading the values of any. */
async function firstCheckpoint(
  saver: PageParts["saver"],
  thread: string,
): Promise<CheckpointSummary | undefined> {
  let first: CheckpointSummary | undefined;
  for (;;) {
    const page = await saver.listCheckpoints(thread, { limit: PAGE, ...(first && { before: first.seq }) });
    first = page.at(-1) ?? first;
    if (page.length < PAGE) return first;
    await new Promise(setImmediate);
  }
}

/** Checkpoints read per turn of the event loop. */
const PAGE = 200;

function kindOf({ before, after, isKnown }: NetChange): "added" | "changed" | "removed" | "given" {
  if (after === null) return "removed";
  if (before === after) return "given";
  return before === null && isKnown ? "added" : "changed";
}
