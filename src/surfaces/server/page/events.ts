import { Hono } from "hono";
import { toJson } from "../answers.ts";
import type { ServerEnv } from "../context.ts";
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
    const after = given === undefined ? events.last : isKnown ? Number(given) : events.last;
    const user = c.get("user");
    return streams.open(c, (stream, signal) =>
      others.during(async () => {
        if (given !== undefined && !isKnown)
          await stream.writeSSE({ event: "gap", data: "{}", id: String(after) });
        for await (const entry of events.read(after, { signal })) {
          const id = String(entry.n);
          if ("gap" in entry) {
            await stream.writeSSE({ id, event: "gap", data: "{}" });
            continue;
          }
          const { event } = entry;
          if (!(await access.mayUse(user, { id: event.thread, owner: event.owner }))) continue;
          if (event.kind === "run") {
            await stream.writeSSE({ id, event: "run", data: toJson(event.event) });
          } else if (event.kind === "moved") {
            await stream.writeSSE({ id, event: "gap", data: toJson({ thread: event.thread }) });
          } else if (event.kind === "removed") {
            await stream.writeSSE({ id, event: "removed", data: toJson({ id: event.thread }) });
          } else {
            const known = await access.visible(user, event.thread);
            if (known)
              await stream.writeSSE({ id, event: "thread", data: toJson(await threadOut(known, parts)) });
          }
        }
      }),
    );
  });
}
