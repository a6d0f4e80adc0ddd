import { Hono } from "hono";
import { z } from "zod";
import type { RunRequest, Schedule, ScheduleChange, Schedules } from "../../../threads/host/index.ts";
import {
  type KnownThread,
  body,
  checked,
  json,
  metadataOf,
  refuse,
  type ServerContext,
  type ServerEnv,
  type ServerParts,
} from "../http/index.ts";
import { assistantId, type Assistants } from "./assistants.ts";
import { byFields, contains, listed } from "./listing.ts";
import { readRunBody, runRequest } from "./request.ts";

type Body = Record<string, unknown>;

/** LangGraph's crons: runs that are started again and again. */
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
        return json(c, listed((await this.#found(c, given)).map(cronOut), given, SORTING));
      })
      .post("/count", async (c) => json(c, (await this.#found(c, await body(c))).length))
      .patch("/:cron", async (c) => {
        const { id, request } = await this.#mine(c);
        const given = await body(c);
        const times = timesOf(given);
        const changed = this.#changes(request.graph, given);
        const change = (before: Schedule): ScheduleChange => ({ ...times, request: changed(before.request) });
        return json(c, cronOut(await this.#schedules.change(id, change)));
      })
      .delete("/:cron", async (c) => {
        const { id } = await this.#mine(c);
        if (!(await this.#schedules.remove(id))) refuse(404, `Cron ${id} not found`);
        return c.body(null, 204);
      });
  }

  /** The schedule that a request names. Answers 404 for one of somebody else. */
  async #mine(c: ServerContext): Promise<Schedule> {
    const id = c.req.param("cron") ?? "";
    const found = (await this.#found(c, {})).find((schedule) => schedule.id === id);
    if (!found) refuse(404, `Cron ${id} not found`);
    return found;
  }

  /** Returns a function that applies a body to a request, and keeps the rest. */
  #changes(graph: string, given: Body): (before: RunRequest) => RunRequest {
    const read = readRunBody({ ...given, assistant_id: graph });
    // A schedule of a graph that this server has not can be paused all the same.
    if (Object.keys(given).every((key) => key in TIMES.shape)) return (before) => before;
    const { input, configurable, ...rest } = runRequest(read, this.#assistants, { isTemporary: false });
    return (before) => {
      const kept = { ...before };
      // One or the other is what it does, and what is traced is said with the modes.
      if (read.input || rest.command) {
        delete kept.input;
        delete kept.command;
      }
      if (rest.modes) delete kept.isTraced;
      if (read.after_seconds === 0) delete kept.delay;
      if (read.priority === 0) delete kept.priority;
      return {
        ...kept,
        ...rest,
        ...(read.input && { input: input ?? null }),
        ...(read.config?.configurable && { configurable: configurable ?? {} }),
      };
    };
  }

  get #schedules(): Schedules {
    return this.#parts.host.schedules;
  }

  async #add(c: ServerContext, known?: KnownThread): Promise<object> {
    const given = await body(c);
    const { cron, isPaused, ...times } = timesOf(given);
    if (cron === undefined) refuse(422, "schedule is missing.");
    const request = runRequest(readRunBody(given), this.#assistants, { isTemporary: false });
    const owner = c.get("user");
    const threadOwner = known?.hosted?.owner;
    return cronOut(
      await this.#schedules.add({
        ...times,
        cron,
        request,
        ...(isPaused && { isPaused }),
        ...(known && { thread: known.id }),
        ...(owner !== undefined && { owner }),
        ...(threadOwner !== undefined && { threadOwner }),
      }),
    );
  }

  async #found(c: ServerContext, given: Body): Promise<Schedule[]> {
    const { assistant_id: assistant, thread_id: name, enabled } = given;
    const thread = typeof name === "string" ? (await this.#parts.access.resolve(c, name)).id : undefined;
    const wanted = metadataOf(given);
    const user = c.get("user");
    const graph = typeof assistant === "string" ? this.#assistants.graph(assistant) : undefined;
    return (await this.#schedules.all()).filter(
      (schedule) =>
        (user === undefined || schedule.owner === user) &&
        (graph === undefined || schedule.request.graph === graph) &&
        (thread === undefined || schedule.thread === thread) &&
        (typeof enabled !== "boolean" || enabled !== (schedule.isPaused ?? false)) &&
        contains(schedule.request.metadata ?? {}, wanted),
    );
  }
}

const TIMES = z.looseObject({
  schedule: z.string().nullish(),
  enabled: z.boolean().nullish(),
  timezone: z.string().refine(isZone, "there is no time zone of this name").nullish(),
  end_time: z.iso.datetime({ offset: true, local: true }).nullish(),
});

function isZone(name: string): boolean {
  try {
    Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** When a body wants runs to be started. Answers 422 for what cannot be kept. */
function timesOf(given: Body): ScheduleChange {
  const { schedule: cron, enabled, timezone, end_time: end } = checked(TIMES, given);
  return {
    ...(typeof cron === "string" && { cron }),
    ...(typeof enabled === "boolean" && { isPaused: !enabled }),
    ...(typeof timezone === "string" && { timezone }),
    ...(typeof end === "string" && { endsAt: momentOf(end) }),
  };
}

/** In UTC where it does not say otherwise. */
function momentOf(time: string): number {
  return Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/i.test(time) ? time : `${time}Z`);
}

const SORTING = byFields("created_at", "updated_at", "cron_id", "assistant_id", "thread_id");

function cronOut(schedule: Schedule) {
  const { id, cron, thread, owner, request, createdAt, updatedAt = createdAt, isPaused } = schedule;
  const { timezone = "UTC", endsAt } = schedule;
  return {
    cron_id: id,
    thread_id: thread ?? null,
    assistant_id: assistantId(request.graph),
    user_id: owner ?? null,
    schedule: cron,
    timezone,
    enabled: !isPaused,
    end_time: endsAt === undefined ? null : new Date(endsAt).toISOString(),
    created_at: new Date(createdAt).toISOString(),
    updated_at: new Date(updatedAt).toISOString(),
    metadata: request.metadata ?? {},
    payload: { input: request.input ?? null },
  };
}
