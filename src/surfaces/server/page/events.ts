import { Hono } from "hono";
import type { Entry, HostEvent } from "../../../threads/host/index.ts";
import { toJson, type ServerEnv, type ServerSentEvent } from "../http/index.ts";
import { Others } from "./others.ts";
import type { PageParts } from "./parts.ts";
import { threadOut } from "./thread-out.ts";

/** One stream of everything that happens, for all tabs of a browser. */
export function pageEvents(parts: PageParts): Hono<ServerEnv> {
  const { host, access, streams, saver } = parts;
  const others = new Others(host, saver);
  return new Hono<ServerEnv>().get("/", (c) => {
    const given = c.req.header("last-event-id") ?? c.req.query("after");
    const { events } = host;
    // A number of another start is above or below all of ours.
    const isKnown = given !== undefined && Number(given) >= events.first - 1 && Number(given) <= events.last;
    const after = isKnown ? Number(given) : events.last;
    const user = c.get("user");
    return streams.admit(c, () =>
      streams.open(c, (stream, signal) =>
        others.during(async () => {
          // Who is cut off before anything happens knows where to go on from, too.
          const first = given === undefined ? "start" : "gap";
          if (!isKnown) await stream.send([{ event: first, data: "{}", id: after }]);
          for await (const entries of events.read(after, { signal })) {
            const found = await Promise.all(entries.map((entry) => eventOut(entry, user)));
            await stream.send(found.flatMap((event) => event ?? []));
          }
        }),
      ),
    );
  });

  /** The event that a user is sent; undefined for events of others. */
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
    const known = await access.visible(user, event.thread);
    return known && { id, event: "thread", data: toJson(await threadOut(known, parts)) };
  }
}
