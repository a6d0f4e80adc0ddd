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

/** Routes for a thread's changes of files. */
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
      const found = await fileOf(parts, await stateOf(parts, id), path);
      if (!found) refuse(404, `The thread has no file ${JSON.stringify(path)}.`);
      if (found.denied !== undefined) refuse(403, found.denied);
      return json(c, found);
    });
}

/** A thread as it is saved, and the directory that it works on, where there is one. */
interface ReadState {
  thread: Thread;
  state: StateSnapshot;
  dir: string | undefined;
}

async function stateOf({ host, saver }: PageParts, id: string): Promise<ReadState> {
  const thread = await host.thread(id).read();
  return { thread, state: await thread.state(), dir: (await settingsOfThread(saver, id))?.dir };
}

async function changesOf({ saver }: PageParts, { thread, state, dir }: ReadState): Promise<NetChange[]> {
  return dir === undefined
    ? changesOfFiles(await givenFiles(saver, thread.id), ((state.values ?? {}) as Values).files ?? {})
    : changesOnDisk(await fileCallsOf(saver, state), dir);
}

/**
 * A file that the thread has changed, or asks to write. Nothing but those: this is no way to read the disk, and the
 * disk is read without leaving the directory.
 */
async function fileOf(parts: PageParts, read: ReadState, given: string): Promise<NetChange | undefined> {
  const path = meantPath(given, read.dir);
  const changed = (await changesOf(parts, read)).find((change) => change.path === path);
  if (changed || path === undefined || !(await isAskedFor(path, read))) return changed;
  const { dir } = read;
  const found = dir === undefined ? undefined : await diskBackend(dir).read(path);
  if (found && !found.ok && found.reason !== "missing") return undefined;
  const content = found?.ok ? found.content : null;
  return { path, before: content, after: content, isKnown: true };
}

async function isAskedFor(path: string, { thread, state, dir }: ReadState): Promise<boolean> {
  return (await thread.questions(state)).some(({ call }) => {
    const { file_path: given } = (call?.args ?? {}) as { file_path?: unknown };
    return call?.name === "write_file" && typeof given === "string" && meantPath(given, dir) === path;
  });
}

/** The path that a file tool takes words for; undefined for what it refuses. */
function meantPath(given: string, dir: string | undefined): string | undefined {
  if (dir !== undefined) return pathMeant(given, dir);
  const parsed = parsePath(given);
  return parsed.ok ? parsed.path : undefined;
}

/** The files that a thread began with. */
async function givenFiles(saver: PageParts["saver"], thread: string): Promise<Record<string, string>> {
  const first = await firstCheckpoint(saver, thread);
  if (!first) return {};
  const place = { thread_id: thread, checkpoint_ns: "", checkpoint_id: first.id };
  const saved = await saver.getTuple({ configurable: place });
  const { __start__: start, files } = (saved?.checkpoint.channel_values ?? {}) as Values & {
    __start__?: Values;
  };
  return start?.files ?? files ?? {};
}

/** Found without the values of those after it. */
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

/** So many checkpoints are read between two turns of the event loop. */
const PAGE = 200;

function kindOf({ before, after, isKnown }: NetChange): "added" | "changed" | "removed" | "given" {
  if (after === null) return "removed";
  if (before === after) return "given";
  return before === null && isKnown ? "added" : "changed";
}
