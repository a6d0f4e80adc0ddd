import { createHash } from "node:crypto";
import { HarnessError } from "../../errors.ts";
import type { ThreadStore } from "../../storage/index.ts";
import type { HostedGraph } from "../host/graphs.ts";
import { newRecord, notedThread } from "../host/records.ts";
import type { Schedule, Schedules } from "../host/schedule.ts";
import { APPLICATION, type ClusterDatabase } from "./database.ts";
import { Jobs } from "./jobs.ts";
import { limitKeys } from "./limit-keys.ts";

/** The workflow that DBOS starts when a schedule is due. */
export const SCHEDULED = "scheduled";

/** The schedules of a cluster, which its workers keep. */
export class ClusterSchedules implements Schedules {
  readonly #db: ClusterDatabase;

  constructor(db: ClusterDatabase) {
    this.#db = db;
  }

  async add({ cron, ...more }: Omit<Schedule, "id" | "createdAt">): Promise<Schedule> {
    const schedule: Schedule = { ...more, id: crypto.randomUUID(), cron: cron.trim(), createdAt: Date.now() };
    try {
      await this.#db.client.createSchedule({
        scheduleName: schedule.id,
        workflowName: SCHEDULED,
        schedule: schedule.cron,
        context: schedule,
        applicationName: APPLICATION.name,
        options: { cronTimezone: "UTC" },
      });
    } catch (error) {
      const { message } = error as Error;
      throw new HarnessError(
        "invalid-request",
        `The schedule ${JSON.stringify(cron)} cannot be kept: ${message}`,
        {
          cause: error,
        },
      );
    }
    return schedule;
  }

  async all(): Promise<Schedule[]> {
    const found = await this.#db.client.listSchedules({ workflowName: SCHEDULED });
    return found.map(({ context }) => context as Schedule).toSorted((a, b) => b.createdAt - a.createdAt);
  }

  async remove(id: string): Promise<boolean> {
    if (!(await this.#db.client.getSchedule(id))) return false;
    await this.#db.client.deleteSchedule(id);
    return true;
  }
}

/** Starts the run that a schedule is for. Its id is that of the moment: a worker that dies on the way starts no second one. */
export async function startScheduled(
  {
    db,
    store,
    graphs,
  }: { db: ClusterDatabase; store: ThreadStore; graphs: ReadonlyMap<string, HostedGraph> },
  at: Date,
  schedule: Schedule,
): Promise<void> {
  const id = idOf(`${schedule.id} ${at.toISOString()}`);
  const { thread = id, owner, threadOwner = owner, request } = schedule;
  const more = { graph: request.graph, ...(threadOwner !== undefined && { owner: threadOwner }) };
  await store.ledger.changeThread(thread, (before) => notedThread(thread, { before, more, graphs }));
  const limits = await limitKeys(graphs.get(request.graph), { thread, owner, request });
  await new Jobs(db).enqueue({ ...newRecord(thread, { ...request, strategy: "enqueue", limits }), id });
}

function idOf(text: string): string {
  const hex = createHash("sha256").update(text).digest("hex");
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, "$1-$2-5$3-a$4-$5");
}
