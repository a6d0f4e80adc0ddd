import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Annotation, InMemoryStore, StateGraph } from "@langchain/langgraph";
import Database from "libsql";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { STORES_BELOW, type StorePlace } from "../../../../test/helpers/postgres/stores.ts";
import { sqliteSaver, type RunRecord, type ThreadStore } from "../../../storage/index.ts";
import { hostedGraphs } from "../../../surfaces/server/graphs.ts";
import { RunHost } from "../host.ts";

/** The tests move the clock: timers stay real, and a host looks when it is asked to. */
const NOW = Date.UTC(2030, 0, 1, 12, 0, 0, 500);
const OFTEN = "* * * * * *";
const State = Annotation.Root({ said: Annotation<string> });

interface Server {
  host: RunHost;
  store: ThreadStore;
  end: () => Promise<void>;
}

let place: Pick<StorePlace, "open" | "remove">;
let open: Server[];
/** The words of all runs, in the order in which they ran. */
let ran: string[];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: NOW });
  [open, ran] = [[], []];
});

afterEach(async () => {
  await Promise.all(open.map((server) => server.end()));
  place.remove();
  vi.useRealTimers();
});

async function serve(): Promise<Server> {
  const store = await place.open();
  const work = new StateGraph(State)
    .addNode("work", ({ said }) => {
      ran.push(said);
      return {};
    })
    .addEdge("__start__", "work");
  const graphs = hostedGraphs(
    "test",
    { work: work.compile() },
    { checkpointer: store, store: new InMemoryStore() },
  );
  const host = new RunHost({ graphs, checkpointer: store, ledger: store.ledger });
  const end = async (): Promise<void> => {
    open = open.filter((other) => other.host !== host);
    await host.stop();
    await store.close();
  };
  const server = { host, store, end };
  open.push(server);
  return server;
}

const ask = (said: string) => ({ graph: "work", input: { said } });

/** Moves the clock on, and lets every server look. */
async function pass(seconds: number): Promise<void> {
  vi.setSystemTime(Date.now() + seconds * 1000);
  await Promise.all(open.map(({ host }) => host.look()));
}

async function settled({ store }: Server, thread: string): Promise<RunRecord[]> {
  for (;;) {
    const runs = await store.ledger.runs(thread);
    if (runs.every(({ status }) => status !== "pending" && status !== "running")) return runs;
    await sleep(5);
  }
}

const dueOf = async ({ store }: Server, id: string): Promise<number | undefined> =>
  (await store.ledger.schedules()).find((schedule) => schedule.id === id)?.due;

describe.each(STORES_BELOW)("in $name,", ({ create }) => {
  beforeEach(async () => {
    place = await create();
  });

  it("a schedule starts one run at each of its moments, by one of two servers", async () => {
    const [one, other] = [await serve(), await serve()];
    const { id } = await one.host.schedules.add({ cron: OFTEN, thread: "t", request: ask("Tidy up") });
    expect(await other.host.schedules.all()).toMatchObject([{ id, cron: OFTEN }]);
    for (let n = 1; n <= 5; n += 1) {
      await pass(1);
      expect(await settled(one, "t")).toHaveLength(n);
    }
    await other.host.schedules.remove(id);
    await pass(1);
    expect(await settled(one, "t")).toHaveLength(5);
    expect(ran).toHaveLength(5);
  });

  it("each run of a schedule without a thread has its own thread", async () => {
    const { host, store } = await serve();
    await host.schedules.add({ cron: OFTEN, request: ask("Look around") });
    await pass(1);
    await pass(1);
    const threads = await store.ledger.threads();
    expect(threads).toHaveLength(2);
  });

  it("a schedule outlasts its server, and starts nothing while it is paused", async () => {
    const first = await serve();
    const paused = { cron: OFTEN, thread: "t", request: ask("first"), isPaused: true };
    const { id } = await first.host.schedules.add(paused);
    await first.end();
    const second = await serve();
    await pass(2);
    expect(await second.store.ledger.runs("t")).toEqual([]);
    await second.host.schedules.change(id, () => ({ isPaused: false, request: ask("second") }));
    await pass(1);
    await settled(second, "t");
    expect(ran).toEqual(["second"]);
  });

  it("a moment that passed while there was no server is not made up for", async () => {
    const first = await serve();
    const { id } = await first.host.schedules.add({ cron: "0 13 * * *", thread: "t", request: ask("Noon") });
    await first.end();
    const second = await serve();
    await pass(2 * 60 * 60);
    expect(await second.store.ledger.runs("t")).toEqual([]);
    expect(await dueOf(second, id)).toBe(Date.UTC(2030, 0, 2, 13));
  });

  it("a schedule starts nothing after its end, until it has another", async () => {
    const server = await serve();
    const { schedules } = server.host;
    const endsAt = NOW + 2000;
    const { id } = await schedules.add({ cron: OFTEN, thread: "t", request: ask("Tidy up"), endsAt });
    for (let n = 0; n < 5; n += 1) await pass(1);
    expect(await settled(server, "t")).toHaveLength(2);
    expect(await dueOf(server, id)).toBeUndefined();
    await schedules.change(id, () => ({ endsAt: NOW + 60_000 }));
    await pass(1);
    expect(await settled(server, "t")).toHaveLength(3);
  });

  it("a change keeps a schedule's next time, and a clock set back does not silence it", async () => {
    const server = await serve();
    const { schedules } = server.host;
    const { id } = await schedules.add({ cron: OFTEN, thread: "t", request: ask("Often") });
    vi.setSystemTime(NOW + 1000);
    await schedules.change(id, () => ({ request: ask("Changed") }));
    await pass(0);
    await settled(server, "t");
    expect(ran).toEqual(["Changed"]);
    vi.setSystemTime(NOW - 60 * 60 * 1000);
    await pass(0);
    await pass(1);
    expect(await settled(server, "t")).toHaveLength(2);
  });

  it("a run for later waits for its time without blocking others, also on a new server", async () => {
    const first = await serve();
    const later = await first.host.start("t", { ...ask("later"), delay: 5 });
    const now = await first.host.start("t", ask("now"));
    await now.done;
    await first.end();
    const second = await serve();
    await serve();
    await pass(4);
    expect(ran).toEqual(["now"]);
    await pass(1);
    await settled(second, "t");
    await pass(1);
    expect(ran).toEqual(["now", "later"]);
    expect(await second.store.ledger.run(later.id)).toMatchObject({ status: "success" });
  });

  it("a run for later can be stopped by any server, and goes with its thread", async () => {
    const [first, second] = [await serve(), await serve()];
    const { id } = await first.host.start("t", { ...ask("stopped"), delay: 3 });
    await second.host.cancel(id);
    expect(await second.store.ledger.run(id)).toMatchObject({ status: "interrupted" });
    await first.host.start("gone", { ...ask("gone"), delay: 3 });
    await first.host.schedules.add({ cron: OFTEN, thread: "gone", request: ask("gone") });
    await first.host.remove("gone");
    await pass(5);
    expect(ran).toEqual([]);
    expect(await first.host.schedules.all()).toEqual([]);
  });

  it("runs for later that became due while no server ran are started once", async () => {
    const first = await serve();
    await first.host.start("t", { ...ask("left"), delay: 1 });
    await first.host.start("t", { ...ask("due"), delay: 4 });
    await first.end();
    const second = await serve();
    await pass(1);
    while (ran.length === 0) await sleep(5);
    await second.end();
    vi.setSystemTime(NOW + 60_000);
    const [third] = [await serve(), await serve()];
    await pass(0);
    await settled(third, "t");
    await pass(1);
    expect(ran).toEqual(["left", "due"]);
  });

  it("a due run waits while another process works on its thread", async () => {
    const server = await serve();
    const elsewhere = await place.open();
    await (
      await server.host.start("t", ask("first"))
    ).done;
    const release = await elsewhere.acquireThread("t");
    await server.host.start("t", { ...ask("later"), delay: 1 });
    const { id } = await server.host.schedules.add({ cron: OFTEN, thread: "t", request: ask("often") });
    await pass(1);
    await server.host.schedules.remove(id);
    for (let n = 0; n < 3; n += 1) await pass(1);
    expect(ran).toEqual(["first"]);
    await release();
    await elsewhere.close();
    await pass(1);
    expect(await settled(server, "t")).toHaveLength(3);
    expect(ran.toSorted()).toEqual(["first", "later", "often"]);
  });
});

it("a damaged schedule or run for later keeps no other from its time", async () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-schedules-"));
  const file = join(folder, "threads.db");
  place = { open: () => sqliteSaver(file), remove: () => rmSync(folder, { recursive: true }) };
  const server = await serve();
  const { host, store } = server;
  const warnings = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
  const add = (words: string) => host.schedules.add({ cron: OFTEN, thread: "t", request: ask(words) });
  const damaged = await add("damaged");
  await host.schedules.change(damaged.id, () => ({ isPaused: true }));
  const { id: unreadable } = await add("unreadable");
  const lost = await host.start("t", { ...ask("lost"), delay: 1 });
  await host.start("t", { ...ask("later"), delay: 1 });
  const database = new Database(file);
  database.prepare("UPDATE schedules SET due = 1 WHERE id = ?").run([damaged.id]);
  database.prepare("UPDATE runs SET created = 1 WHERE id = ?").run([lost.id]);
  database.close();
  await store.ledger.changeSchedule(unreadable, (found) => ({ ...found!, content: { cron: "?" } }));
  await add("whole");
  await pass(1);
  while (ran.length < 2) await sleep(5);
  expect(ran.toSorted()).toEqual(["later", "whole"]);
  expect(warnings).toHaveBeenCalledWith(expect.stringContaining("could not start"));
});
