import { createHash } from "node:crypto";
import type { ThreadStore } from "../../storage/index.ts";
import { type HostedGraph, newRecord, notedThread, ownerFor, Schedules, type Due } from "../host/index.ts";
import type { ClusterDatabase } from "./database/database.ts";
import { limitKeys } from "./limit-keys.ts";
import { Jobs } from "./queue/jobs.ts";

interface ScheduleClockOptions {
  db: ClusterDatabase;
  store: ThreadStore;
  graphs: ReadonlyMap<string, HostedGraph>;
}

/** The interval at which a worker looks for due schedules. */
const LOOK_MS = 1000;

/** Starts what schedules are for. Every worker has one. */
export class ScheduleClock {
  readonly #options: ScheduleClockOptions;
  readonly #schedules: Schedules;
  readonly #timer: NodeJS.Timeout;
  #looking: Promise<void> | undefined;

  constructor(options: ScheduleClockOptions) {
    this.#options = options;
    this.#schedules = new Schedules(options.store.ledger);
    this.#timer = setInterval(() => {
      // What cannot be started now is tried again, here or by another worker.
      this.#looking ??= this.look()
        .catch(() => {})
        .finally(() => (this.#looking = undefined));
    }, LOOK_MS).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
  }

  /** Starts what is due. */
  async look(): Promise<void> {
    for (const due of await this.#schedules.due(() => {})) await this.#start(due).catch(() => {});
  }

  /** Of several workers one starts the run. Its id is that of the moment: a worker that dies on the way starts no second one. */
  async #start({ schedule, moment }: Due): Promise<void> {
    const { db, store, graphs } = this.#options;
    const { request, owner } = schedule;
    const graph = graphs.get(request.graph);
    // Another worker may have it.
    if (!graph) return;
    const id = idOf(`${schedule.id} ${moment.due}`);
    const { thread = id } = schedule;
    const more = { graph: request.graph, ...ownerFor(schedule) };
    const limits = await limitKeys(graph, { thread, owner, request });
    await db.transaction(`schedule ${schedule.id}`, async () => {
      const due = await store.ledger.schedules(moment.due);
      if (!due.some((one) => one.id === schedule.id && one.due === moment.due)) return;
      await store.ledger.changeThread(thread, (before) => notedThread(thread, { before, more, graphs }));
      await new Jobs(db).enqueue({ ...newRecord(thread, { ...request, strategy: "enqueue", limits }), id });
      await this.#schedules.pass(moment);
    });
  }
}

function idOf(text: string): string {
  const hex = createHash("sha256").update(text).digest("hex");
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, "$1-$2-5$3-a$4-$5");
}
