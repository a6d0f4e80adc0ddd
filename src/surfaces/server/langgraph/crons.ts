import { Hono } from "hono";
import { z } from "zod";
import type { RunRequest, Schedule, ScheduleChange, Schedules } from "../../../threads/host/index.ts";
import {
  type ThreadInfo,
  body,
  validate,
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

/** LangGraph's crons: runs on a schedule. */
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
        const fields = await body(c);
        return json(c, listed((await this.#search(c, fields)).map(cronOut), fields, SORTING));
      })
      .post("/count", async (c) => json(c, (await this.#search(c, await body(c))).length))
      .patch("/:cron", async (c) => {
        const { id, request } = await this.#mine(c);
        const fields = await body(c);
        const times = timesOf(fields);
        const withChanges = this.#changes(request.graph, fields);
        const change = (before: Schedule): ScheduleChange => ({
          ...times,
          request: withChanges(before.request),
        });
        return json(c, cronOut(await this.#schedules.change(id, change)));
      })
      .delete("/:cron", async (c) => {
        const { id } = await this.#mine(c);
        if (!(await this.#schedules.remove(id))) refuse(404, `Cron ${id} not found`);
        return c.body(null, 204);
      });
  }

  /** The schedule that a request names. Answers 404 for another user's. */
  async #mine(c: ServerContext): Promise<Schedule> {
    const id = c.req.param("cron") ?? "";
    const schedule = (await this.#search(c, {})).find((each) => each.id === id);
    if (!schedule) refuse(404, `Cron ${id} not found`);
    return schedule;
  }

  /** Returns a function that changes a request by the fields of a body. */
  #changes(graph: string, fields: Body): (before: RunRequest) => RunRequest {
    const runBody = readRunBody({ ...fields, assistant_id: graph });
    // Times of a schedule can change even if this server does not have its graph.
    if (Object.keys(fields).every((key) => key in TIMES.shape)) return (before) => before;
    const { input, configurable, ...rest } = runRequest(runBody, this.#assistants, { isTemporary: false });
    return (before) => {
      const rewritten = { ...before };
      // A request has an input or a command, and its modes decide whether it is traced.
      if (runBody.input || rest.command) {
        delete rewritten.input;
        delete rewritten.command;
      }
      if (rest.modes) delete rewritten.isTraced;
      if (runBody.after_seconds === 0) delete rewritten.delay;
      if (runBody.priority === 0) delete rewritten.priority;
      return {
        ...rewritten,
        ...rest,
        ...(runBody.input && { input: input ?? null }),
        ...(runBody.config?.configurable && { configurable: configurable ?? {} }),
      };
    };
  }

  get #schedules(): Schedules {
    return this.#parts.host.schedules;
  }

  async #add(c: ServerContext, info?: ThreadInfo): Promise<object> {
    const fields = await body(c);
    const { cron, isPaused, ...times } = timesOf(fields);
    if (cron === undefined) refuse(422, "schedule is missing.");
    const request = runRequest(readRunBody(fields), this.#assistants, { isTemporary: false });
    const owner = c.get("user");
    const threadOwner = info?.hosted?.owner;
    return cronOut(
      await this.#schedules.add({
        ...times,
        cron,
        request,
        ...(isPaused && { isPaused }),
        ...(info && { thread: info.id }),
        ...(owner !== undefined && { owner }),
        ...(threadOwner !== undefined && { threadOwner }),
      }),
    );
  }

  async #search(c: ServerContext, fields: Body): Promise<Schedule[]> {
    const { assistant_id: assistant, thread_id: name, enabled } = fields;
    const thread = typeof name === "string" ? (await this.#parts.access.resolve(c, name)).id : undefined;
    const filter = metadataOf(fields);
    const user = c.get("user");
    const graph = typeof assistant === "string" ? this.#assistants.graph(assistant) : undefined;
    return (await this.#schedules.all()).filter(
      (schedule) =>
        (user === undefined || schedule.owner === user) &&
        (graph === undefined || schedule.request.graph === graph) &&
        (thread === undefined || schedule.thread === thread) &&
        (typeof enabled !== "boolean" || enabled !== (schedule.isPaused ?? false)) &&
        contains(schedule.request.metadata ?? {}, filter),
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

/** The times of a schedule in a body. Answers 422 for invalid ones. */
function timesOf(fields: Body): ScheduleChange {
  const { schedule: cron, enabled, timezone, end_time: end } = validate(TIMES, fields);
  return {
    ...(typeof cron === "string" && { cron }),
    ...(typeof enabled === "boolean" && { isPaused: !enabled }),
    ...(typeof timezone === "string" && { timezone }),
    ...(typeof end === "string" && { endsAt: momentOf(end) }),
  };
}

/** Parses a time; without a zone it is UTC. */
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
