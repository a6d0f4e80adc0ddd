import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import type { RunnableConfig } from "@langchain/core/runnables";
import { Annotation, StateGraph } from "@langchain/langgraph";
import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { STORES, type StorePlace } from "../../test/helpers/postgres/stores.ts";
import { isRelease } from "../../test/helpers/runner/rounds.ts";
import { sqliteSaver } from "./sqlite.ts";
import { Connection } from "./sqlite/database/connection.ts";
import { LEASES, type Lease } from "./sqlite/database/tables.ts";
import { LEASE, type ThreadStore } from "./store/thread-store.ts";

let place: Pick<StorePlace, "open" | "opening" | "remove">;
let ours: ThreadStore;
let theirs: ThreadStore;

describe.each(STORES)("in $name,", ({ name: storeName, create }) => {
  beforeEach(async () => {
    place = await create();
    ours = await place.open();
    theirs = await place.open();
  });
  afterEach(async () => {
    await Promise.all([ours.close(), theirs.close()]);
    place.remove();
  });

  describe("a held thread", () => {
    it("is refused to a second holder, with an error that names the first", async () => {
      await ours.acquireThread("t");
      await expect(theirs.acquireThread("t")).rejects.toMatchObject({
        code: "thread-busy",
        message: expect.stringMatching(
          new RegExp(`^Thread "t" is in use by process ${process.pid} on ${hostname()} since \\d{4}-.*Z\\.`),
        ) as string,
      });
      await expect(ours.acquireThread("t")).rejects.toMatchObject({ code: "thread-busy" });
    });

    it("refuses writes and a deletion by any other saver", async () => {
      await save(ours, "t");
      await ours.acquireThread("t");
      await save(ours, "t");
      await expect(save(theirs, "t")).rejects.toMatchObject({ code: "thread-busy" });
      await expect(theirs.deleteThread("t")).rejects.toMatchObject({ code: "thread-busy" });
      await save(theirs, "another");
    });

    it("goes to a waiting caller as soon as it is released", async () => {
      const release = await ours.acquireThread("t");
      const waiting = theirs.acquireThread("t", { wait: 60_000 });
      await release();
      await waiting;
      await expect(ours.acquireThread("t", { wait: 1 })).rejects.toMatchObject({ code: "thread-busy" });
    });

    it("is released when its saver is closed, and releasing twice does no harm", async () => {
      const third = await place.open();
      const release = await third.acquireThread("t");
      await release();
      const second = await ours.acquireThread("t");
      await release();
      await expect(theirs.acquireThread("t")).rejects.toMatchObject({ code: "thread-busy" });
      await second();
      await third.acquireThread("t");
      await third.close();
      await theirs.acquireThread("t");
    });
  });

  it("a holder whose process was killed is replaced", async () => {
    const { child, done } = holder("holds");
    await done;
    await expect(ours.acquireThread("t")).rejects.toThrow(`is in use by process ${child.pid}`);
    expect((await ours.getThread("t"))?.state).toBe("running");
    child.kill("SIGKILL");
    await once(child, "exit");
    await ours.acquireThread("t");
  });

  it("a forced takeover gets the thread, and the old holder's writes are refused", async () => {
    const release = await ours.acquireThread("t");
    await save(ours, "t");
    const taken = await theirs.acquireThread("t", { force: true });
    await expect(save(ours, "t")).rejects.toMatchObject({ code: "thread-busy" });
    await release();
    await save(theirs, "t");
    await taken();
  });

  it("a run writes only under the lease in its config, not under a newer lease", async () => {
    const first = await ours.acquireThread("t");
    const zombie = { configurable: { thread_id: "t", [LEASE]: first.token } };
    await ours.put(zombie, emptyCheckpoint(), METADATA, {});
    await (
      await theirs.acquireThread("t", { force: true })
    )();
    const again = await ours.acquireThread("t");
    await expect(ours.put(zombie, emptyCheckpoint(), METADATA, {})).rejects.toMatchObject({
      code: "thread-busy",
    });
    await ours.put(
      { configurable: { thread_id: "t", [LEASE]: again.token } },
      emptyCheckpoint(),
      METADATA,
      {},
    );
    await save(ours, "t");
  });

  describe("a writer without a lease", () => {
    it("cannot continue from a checkpoint that another writer has continued from", async () => {
      await save(ours, "t");
      const mine = (await ours.getTuple(thread("t")))!.config;
      const same = (await theirs.getTuple(thread("t")))!.config;
      await ours.putWrites(mine, [["answer", "blue"]], "task");
      await put(ours, mine);
      await expect(put(theirs, same)).rejects.toMatchObject({ code: "thread-changed" });
      await expect(theirs.putWrites(same, [["answer", "red"]], "task")).rejects.toMatchObject({
        code: "thread-changed",
        message: expect.stringContaining('Thread "t" was changed by another process') as string,
      });
      const newest = (await theirs.getTuple(thread("t")))!;
      expect(newest.parentConfig).toEqual(mine);
      await put(theirs, newest.config);
    });

    it("may fork a thread at an earlier checkpoint by its id", async () => {
      await save(ours, "t");
      const first = (await ours.getTuple(thread("t")))!.config;
      await put(ours, first);
      await ours.getTuple(first);
      await put(ours, first);
      expect((await ours.getTuple(thread("t")))!.parentConfig).toEqual(first);
    });
  });

  it.runIf(isRelease || storeName === "SQLite")(
    "processes write to different threads at the same time",
    async () => {
      const writers = ["a", "b", "c"].map((name) => holder(`writes-${name}`));
      await Promise.all(writers.map(({ done }) => done));
      for (const { child } of writers) child.kill("SIGKILL");
      const threads = await ours.listThreads();
      expect(threads.map(({ id }) => id).toSorted()).toEqual(["writes-a", "writes-b", "writes-c"]);
      for (const { id } of threads) {
        let count = 0;
        for await (const tuple of ours.list({ configurable: { thread_id: id } })) count += tuple ? 1 : 0;
        expect(count).toBe(50);
      }
    },
  );
});

describe("in a SQLite file,", () => {
  let folder: string;
  let file: string;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "holdfast-leases-"));
    file = join(folder, "threads.db");
    place = {
      open: () => sqliteSaver(file),
      opening: `sqliteSaver(${JSON.stringify(file)})`,
      remove: () => {},
    };
    ours = await sqliteSaver(file);
    theirs = await sqliteSaver(file);
  });
  afterEach(async () => {
    await Promise.all([ours.close(), theirs.close()]);
    rmSync(folder, { recursive: true, force: true });
  });

  it("the store releases a lease that is still being acquired when the store closes", async () => {
    const taking = ours.acquireThread("t");
    for (let n = 0; n < 20; n += 1) await Promise.resolve();
    await ours.close();
    await taking;
    await expect(theirs.acquireThread("t")).resolves.toBeDefined();
  });

  it.each([0, 1, 20])("a write %i promises after a release is accepted", async (promises) => {
    const release = await ours.acquireThread("t");
    const giving = release();
    for (let n = 0; n < promises; n += 1) await Promise.resolve();
    await expect(save(ours, "t")).resolves.toBeUndefined();
    await giving;
  });

  describe("a dead holder is replaced", () => {
    it("when its heartbeat stays silent, and cannot write afterwards", async () => {
      const { child, done } = holder("holds");
      await done;
      child.kill("SIGSTOP");
      await change((lease) => ({ ...lease, beat: lease.beat - 60_000 }));
      const release = await ours.acquireThread("t");
      await save(ours, "t");
      const [answer] = (await once(child.stdout!, "data", { signal: wake(child) })) as [Buffer];
      expect(answer.toString()).toContain("thread-busy");
      await release();
      child.kill("SIGKILL");
    });

    it("when it had our pid before us, and cannot write afterwards", async () => {
      await ours.acquireThread("t");
      await change((lease) => ({ ...lease, holder: "before us", since: 1 }));
      const release = await theirs.acquireThread("t");
      await save(theirs, "t");
      await expect(save(ours, "t")).rejects.toMatchObject({ code: "thread-busy" });
      await expect(ours.noteProgress("t", { done: 1, total: 1 })).rejects.toMatchObject({
        code: "thread-busy",
      });
      await release();
      await expect(save(ours, "t")).rejects.toThrow("was taken over by another process, which has finished");
    });
  });

  it("a run that loses its thread in a step fails at its end, and the process lives", async () => {
    let tellRefused = (): void => {};
    const refused = new Promise<void>((resolve) => {
      tellRefused = resolve;
    });
    const putWrites = ours.putWrites.bind(ours);
    ours.putWrites = (...write) => putWrites(...write).finally(tellRefused);
    const state = Annotation.Root({ seen: Annotation<string[]>({ reducer: (a, b) => [...a, ...b] }) });
    const graph = new StateGraph(state)
      .addNode("quick", async () => {
        await change((lease) => ({ ...lease, holder: "another" }));
        return { seen: ["quick"] };
      })
      .addNode("slow", async () => {
        await refused;
        return { seen: ["slow"] };
      })
      .addEdge("__start__", "quick")
      .addEdge("__start__", "slow")
      .compile({ checkpointer: ours });
    await ours.acquireThread("t");
    await expect(graph.invoke({ seen: [] }, thread("t"))).rejects.toMatchObject({ code: "thread-busy" });
  });

  describe("a live holder keeps its thread", () => {
    it.runIf(isRelease)("when the clock was set forward, and its heartbeat only seems stale", async () => {
      await ours.acquireThread("t");
      await change((lease) => ({ ...lease, beat: lease.beat - 3_600_000 }));
      await expect(theirs.acquireThread("t")).rejects.toMatchObject({ code: "thread-busy" });
    });

    it("when its event loop is busy, because the heartbeat continues", async () => {
      await ours.acquireThread("t");
      const connection = await Connection.open(file);
      const beat = (): unknown => connection.get("SELECT beat FROM leases")?.["beat"];
      const before = beat();
      const deadline = performance.now() + 120_000;
      // Nothing else of this process runs while it loops.
      while (beat() === before) expect(performance.now()).toBeLessThan(deadline);
      connection.close();
    });
  });

  /** Changes the lease in the file, as a clock or a process of old would have left it. */
  async function change(how: (lease: Lease) => Lease): Promise<void> {
    const connection = await Connection.open(file);
    LEASES.put(connection, how(LEASES.get(connection, "")!));
    connection.close();
  }
});

/**
 * A process that holds thread `t`, or writes 50 checkpoints to a thread of its own; then says so and stays. It takes
 * the built package, which starts sooner.
 */
function holder(job: string): { child: ChildProcess; done: Promise<unknown> } {
  const program = `
    import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
    import { postgresSaver, sqliteSaver } from "holdfast/storage";
    const saver = await ${place.opening};
    const job = ${JSON.stringify(job)};
    const thread = job === "holds" ? "t" : job;
    const count = job === "holds" ? 1 : 50;
    await saver.acquireThread(thread);
    for (let step = 0; step < count; step++) {
      const checkpoint = { ...emptyCheckpoint(), id: String(step).padStart(3, "0"), channel_values: { text: job.repeat(99) } };
      const config = { configurable: { thread_id: thread } };
      await saver.put(config, checkpoint, { source: "loop", step, parents: {} }, { text: step });
    }
    process.on("SIGUSR2", () =>
      saver.noteProgress(thread, { done: 1, total: 1 }).then(() => console.log("written"), (error) => console.log(error.code)),
    );
    console.log("ready");
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  return { child, done: once(child.stdout, "data") };
}

/** Lets a stopped process go on and try to write. */
function wake(child: ChildProcess): AbortSignal {
  child.kill("SIGCONT");
  child.kill("SIGUSR2");
  return AbortSignal.timeout(30_000);
}

const METADATA = { source: "loop", step: 0, parents: {} } as const;
const thread = (id: string) => ({ configurable: { thread_id: id } });

async function put(saver: ThreadStore, parent: RunnableConfig): Promise<void> {
  await saver.put(parent, emptyCheckpoint(), { source: "loop", step: 1, parents: {} }, {});
}

async function save(saver: ThreadStore, id: string): Promise<void> {
  await saver.put(thread(id), emptyCheckpoint(), METADATA, {});
}
