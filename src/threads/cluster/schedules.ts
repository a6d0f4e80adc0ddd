import { createHash } from "node:crypto";
import type { ThreadStore } from "../../storage/index.ts";
import {
  isOver,
  ownerFor,
  unknownSchedule,
  unreadableTime,
  type ChangeOf,
  type NewSchedule,
  type Schedule,
  type Schedules,
  type HostedGraph,
  newRecord,
  notedThread,
} from "../host/index.ts";
import { APPLICATION, type ClusterDatabase } from "./database/database.ts";
import { limitKeys } from "./limit-keys.ts";
import { Jobs } from "./queue/jobs.ts";

/** The workflow that DBOS starts when a schedule is due. */
export const SCHEDULED = "scheduled";

/** A time that comes once in four years. */
const FAR_OFF = "0 0 29 2 *";

/** The schedules of a cluster, kept by DBOS. */
export class ClusterSchedules implements Schedules {
  readonly #db: ClusterDatabase;

  constructor(db: ClusterDatabase) {
    this.#db = db;
  }

  async add({ cron, isPaused, ...more }: NewSchedule): Promise<Schedule> {
    const schedule: Schedule = { ...more, id: crypto.randomUUID(), cron: cron.trim(), createdAt: Date.now() };
    const { client } = this.#db;
    const create = (time: string): Promise<void> =>
      client.createSchedule({
        scheduleName: schedule.id,
        workflowName: SCHEDULED,
        schedule: time,
        context: schedule,
        applicationName: APPLICATION.name,
        options: { cronTimezone: zoneOf(schedule) },
      });
    if (!isPaused) {
      await readable(cron, () => create(schedule.cron));
      return schedule;
    }
    // DBOS creates schedules active: the real time is set once it is paused.
    await create(FAR_OFF);
    try {
      await client.pauseSchedule(schedule.id);
      await readable(cron, () => client.updateSchedule(schedule.id, { schedule: schedule.cron }));
    } catch (error) {
      await client.deleteSchedule(schedule.id).catch(() => {});
      throw error;
    }
    return { ...schedule, isPaused };
  }

  async all(): Promise<Schedule[]> {
    const schedules = await this.#db.client.listSchedules({ workflowName: SCHEDULED });
    return schedules.map(scheduleOf).toSorted((a, b) => b.createdAt - a.createdAt);
  }

  async change(id: string, change: ChangeOf): Promise<Schedule> {
    const { client } = this.#db;
    return this.#alone(id, async () => {
      const saved = await client.getSchedule(id);
      if (!saved) throw unknownSchedule(id);
      const before = scheduleOf(saved);
      const { isPaused = false, ...changed } = { ...before, ...change(before), updatedAt: Date.now() };
      const cron = changed.cron.trim();
      const context = { ...changed, cron };
      // Before it is resumed, so that it does not start with the old content.
      const when = { schedule: cron, cronTimezone: zoneOf(changed) };
      await readable(changed.cron, () => client.updateSchedule(id, { ...when, context }));
      if (isPaused !== (before.isPaused ?? false)) {
        await (isPaused ? client.pauseSchedule(id) : client.resumeSchedule(id));
      }
      return { ...context, isPaused };
    });
  }

  async remove(id: string): Promise<boolean> {
    return this.#alone(id, async () => {
      if (!(await this.#db.client.getSchedule(id))) return false;
      await this.#db.client.deleteSchedule(id);
      return true;
    });
  }

  /** Locks a schedule, as DBOS reads and writes it in two steps. */
  #alone<T>(id: string, work: () => Promise<T>): Promise<T> {
    return this.#db.transaction(`schedule ${id}`, work);
  }
}

function scheduleOf({ context, status }: { context: unknown; status: string }): Schedule {
  return { ...(context as Schedule), ...(status === "PAUSED" && { isPaused: true }) };
}

function zoneOf({ timezone = "UTC" }: Pick<Schedule, "timezone">): string {
  return timezone;
}

/** Reports a failure of `work` as an unreadable time. */
async function readable(cron: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw unreadableTime(cron, error);
  }
}

/** Starts the run of a schedule. Its id is made from the moment: a retry after a worker's death adds no second run. */
export async function startScheduled(
  {
    db,
    store,
    graphs,
  }: { db: ClusterDatabase; store: ThreadStore; graphs: ReadonlyMap<string, HostedGraph> },
  at: Date,
  schedule: Schedule,
): Promise<void> {
  if (isOver(schedule, at.getTime())) return;
  const id = idOf(`${schedule.id} ${at.toISOString()}`);
  const { thread = id, owner, request } = schedule;
  const more = { graph: request.graph, ...ownerFor(schedule) };
  await store.ledger.changeThread(thread, (before) => notedThread(thread, { before, more, graphs }));
  const limits = await limitKeys(graphs.get(request.graph), { thread, owner, request });
  await new Jobs(db).enqueue({ ...newRecord(thread, { ...request, strategy: "enqueue", limits }), id });
}

function idOf(text: string): string {
  const hex = createHash("sha256").update(text).digest("hex");
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, "$1-$2-5$3-a$4-$5");
}
