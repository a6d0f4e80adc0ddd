import { Hono } from "hono";
import type { Entry, HostEvent } from "../../../threads/host/index.ts";
import { toJson, type ServerEnv, type ServerSentEvent } from "../http/index.ts";
import { ExternalRuns } from "./external-runs.ts";
import type { PageParts } from "./parts.ts";
import { threadOut } from "./thread-out.ts";

/** The stream of all events that a user may see. */
export function pageEvents(parts: PageParts): Hono<ServerEnv> {
  const { host, access, streams, saver } = parts;
  const externalRuns = new ExternalRuns(host, saver);
  return new Hono<ServerEnv>().get("/", (c) => {
    const lastId = c.req.header("last-event-id") ?? c.req.query("after");
    const { events } = host;
    // The number may come from before a restart of the server.
    const isKnown =
      lastId !== undefined && Number(lastId) >= events.first - 1 && Number(lastId) <= events.last;
    const after = isKnown ? Number(lastId) : events.last;
    const user = c.get("user");
    return streams.admit(c, () =>
      streams.open(c, (stream, signal) =>
        externalRuns.watchDuring(async () => {
          // Gives the reader a number to resume from, even if it disconnects before the first event.
          const first = lastId === undefined ? "start" : "gap";
          if (!isKnown) await stream.send([{ event: first, data: "{}", id: after }]);
          for await (const entries of events.read(after, { signal })) {
            const visible = await Promise.all(entries.map((entry) => eventOut(entry, user)));
            await stream.send(visible.flatMap((event) => event ?? []));
          }
        }),
      ),
    );
  });

  /** The event to send to a user; undefined for threads that the user may not see. */
  async function eventOut(
    entry: Entry<HostEvent>,
    user: string | undefined,
  ): Promise<ServerSentEvent | undefined> {
    const id = entry.n;
    if ("gap" in entry) return { id, event: "gap", data: "{}" };
    const { event } = entry;
    if (!(await access.mayUse(user, { id: event.thread, owner: event.owner }))) return undefined;
    if (event.kind === "run") return { id, event: "run", data: toJson(event.event) };
    if (event.kind === "moved") return { id, event: "gap", data: toJson({ thread: event.thread }) };
    if (event.kind === "removed") return { id, event: "removed", data: toJson({ id: event.thread }) };
    const info = await access.visible(user, event.thread);
    return info && { id, event: "thread", data: toJson(await threadOut(info, parts)) };
  }
}
