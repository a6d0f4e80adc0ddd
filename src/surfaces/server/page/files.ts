import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { fileCallsOf } from "../../../runs/file-calls.ts";
import { changesOfFiles, changesOnDisk, lineCounts, type NetChange } from "../../../runs/net-changes.ts";
import { knownSettings } from "../../../runs/thread-settings.ts";
import type { CheckpointSummary } from "../../../storage/index.ts";
import { json } from "../answers.ts";
import type { ServerEnv } from "../context.ts";
import type { PageParts } from "./parts.ts";

interface Values {
  files?: Record<string, string>;
}

/** What a thread did to files. */
export function pageFiles(parts: PageParts): Hono<ServerEnv> {
  return new Hono<ServerEnv>()
    .get("/:thread/files", async (c) => {
      const { id } = await parts.access.thread(c);
      const files = (await changesOf(parts, id)).map((change) => ({
        path: change.path,
        ...lineCounts(change),
        kind: kindOf(change),
      }));
      return json(c, { files });
    })
    .get("/:thread/file", async (c) => {
      const { id } = await parts.access.thread(c);
      const path = c.req.query("path") ?? "";
      // Nothing but what the thread has changed: this is no way to read the disk.
      const found = (await changesOf(parts, id)).find((change) => change.path === path);
      if (!found)
        throw new HTTPException(404, { message: `The thread has no file ${JSON.stringify(path)}.` });
      if (found.denied !== undefined) throw new HTTPException(403, { message: found.denied });
      return json(c, found);
    });
}

async function changesOf({ host, saver, graph }: PageParts, thread: string): Promise<NetChange[]> {
  const { graph: reading } = await host.graph(graph).reader(thread);
  const config = { configurable: { thread_id: thread } };
  const state = await reading.getState(config);
  const dir = (await knownSettings(saver, thread))?.dir;
  return dir === undefined
    ? changesOfFiles(await givenFiles(saver, thread), ((state.values ?? {}) as Values).files ?? {})
    : changesOnDisk(await fileCallsOf(saver, state), dir);
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
