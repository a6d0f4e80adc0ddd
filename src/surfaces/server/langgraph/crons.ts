import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import type { Schedule, Schedules } from "../../../runs/host/schedule.ts";
import type { KnownThread } from "../access.ts";
import { body, json } from "../answers.ts";
import type { ServerContext, ServerEnv } from "../context.ts";
import type { ServerParts } from "../parts.ts";
import { assistantId, type Assistants } from "./assistants.ts";
import { readRunBody, runRequest } from "./request.ts";

type Body = Record<string, unknown>;

/** LangGraph's crons: runs that are started again and again. Only where servers and workers share a database. */
export class CronRoutes {
  readonly #parts: ServerParts;
  readonly #assistants: Assistants;

  constructor(parts: ServerParts, assistants: Assistants) {
    this.#parts = parts;
    this.#assistants = assistants;
  }

  /** The routes under `/threads/:thread/runs/crons`. */
  ofThread(): Hono<ServerEnv> {
    return new Hono<ServerEnv>().post("/", async (c) => {
      return json(c, await this.#add(c, await this.#parts.access.thread(c)));
    });
  }

  /** The routes under `/runs/crons`. */
  stateless(): Hono<ServerEnv> {
    return new Hono<ServerEnv>()
      .post("/", async (c) => json(c, await this.#add(c)))
      .post("/search", async (c) => {
        const given = await body(c);
        const { limit = 10, offset = 0 } = given as { limit?: number; offset?: number };
        return json(c, (await this.#found(c, given)).slice(offset, offset + limit).map(cronOut));
      })
      .post("/count", async (c) => json(c, (await this.#found(c, await body(c))).length))
      .delete("/:cron", async (c) => {
        const id = c.req.param("cron");
        const isMine = (await this.#found(c, {})).some((schedule) => schedule.id === id);
        if (!isMine || !(await this.#schedules.remove(id))) {
          throw new HTTPException(404, { message: `Cron ${id} not found` });
        }
        return c.body(null, 204);
      });
  }

  get #schedules(): Schedules {
    const { schedules } = this.#parts.host;
    if (schedules) return schedules;
    throw new HTTPException(422, {
      message: "Schedules need a database that workers share: see --database.",
    });
  }

  async #add(c: ServerContext, known?: KnownThread): Promise<object> {
    const given = await body(c);
    const { schedule: cron } = given;
    if (typeof cron !== "string") throw new HTTPException(422, { message: "schedule is missing." });
    const request = runRequest(readRunBody(given), this.#assistants, { isTemporary: false });
    const owner = c.get("user");
    const threadOwner = known?.hosted?.owner;
    return cronOut(
      await this.#schedules.add({
        cron,
        request,
        ...(known && { thread: known.id }),
        ...(owner !== undefined && { owner }),
        ...(threadOwner !== undefined && threadOwner !== owner && { threadOwner }),
      }),
    );
  }

  async #found(c: ServerContext, { assistant_id: assistant, thread_id: thread }: Body): Promise<Schedule[]> {
    const user = c.get("user");
    const graph = typeof assistant === "string" ? this.#assistants.graph(assistant) : undefined;
    return (await this.#schedules.all()).filter(
      (schedule) =>
        (user === undefined || schedule.owner === user) &&
        (graph === undefined || schedule.request.graph === graph) &&
        (typeof thread !== "string" || schedule.thread === thread),
    );
  }
}

function cronOut({ id, cron, thread, owner, request, createdAt }: Schedule): object {
  const at = new Date(createdAt).toISOString();
  return {
    cron_id: id,
    thread_id: thread ?? null,
    assistant_id: assistantId(request.graph),
    user_id: owner ?? null,
    schedule: cron,
    end_time: null,
    created_at: at,
    updated_at: at,
    metadata: request.metadata ?? {},
    payload: { input: request.input ?? null },
  };
}
