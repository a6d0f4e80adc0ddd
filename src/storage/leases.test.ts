import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Connection } from "./connection.ts";
import type { SqliteSaver } from "./saver.ts";
import { sqliteSaver } from "./sqlite.ts";

let folder: string;
let file: string;
let ours: SqliteSaver;
let theirs: SqliteSaver;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-leases-"));
  file = join(folder, "threads.db");
  ours = await sqliteSaver(file);
  theirs = await sqliteSaver(file);
});
afterEach(() => {
  ours.close();
  theirs.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("a thread that is held", () => {
  it("is refused to a second holder, with who holds it since when", async () => {
    await ours.acquireThread("t");
    await expect(theirs.acquireThread("t")).rejects.toMatchObject({
      code: "thread-busy",
      message: expect.stringMatching(
        new RegExp(`^Thread "t" is in use by process ${process.pid} on ${hostname()} since \\d{4}-.*Z\\.`),
      ) as string,
    });
    await expect(ours.acquireThread("t")).rejects.toMatchObject({ code: "thread-busy" });
  });

  it("cannot be written to or deleted by anybody else", async () => {
    await save(ours, "t");
    await ours.acquireThread("t");
    await save(ours, "t");
    await expect(save(theirs, "t")).rejects.toMatchObject({ code: "thread-busy" });
    await expect(theirs.deleteThread("t")).rejects.toMatchObject({ code: "thread-busy" });
    await save(theirs, "another");
  });

  it("is given to one who waits as soon as it is released", async () => {
    const release = await ours.acquireThread("t");
    const waiting = theirs.acquireThread("t", { wait: 60_000 });
    await release();
    await waiting;
    await expect(ours.acquireThread("t", { wait: 1 })).rejects.toMatchObject({ code: "thread-busy" });
  });

  it("is released when its saver is closed, and releasing twice does no harm", async () => {
    const third = await sqliteSaver(file);
    const release = await third.acquireThread("t");
    await release();
    const second = await ours.acquireThread("t");
    await release();
    await expect(theirs.acquireThread("t")).rejects.toMatchObject({ code: "thread-busy" });
    await second();
    await third.acquireThread("t");
    third.close();
    await theirs.acquireThread("t");
  });
});

describe("a holder that is dead is replaced", () => {
  it.each([
    ["its heart stopped", "UPDATE leases SET beat = beat - 60000"],
    ["it had our number before us", "UPDATE leases SET since = since - 1e9"],
  ])("when %s, and cannot write afterwards", async (_, sql) => {
    await ours.acquireThread("t");
    const connection = await Connection.open(file);
    connection.exec(sql);
    connection.close();
    const release = await theirs.acquireThread("t");
    await save(theirs, "t");
    await expect(save(ours, "t")).rejects.toMatchObject({ code: "thread-busy" });
    await release();
    await expect(save(ours, "t")).rejects.toThrow("was taken over by another process, which has finished");
  });

  it("when its process was killed", async () => {
    const { child, done } = holder("holds");
    await done;
    await expect(ours.acquireThread("t")).rejects.toThrow(`is in use by process ${child.pid}`);
    expect((await ours.getThread("t"))?.state).toBe("running");
    child.kill("SIGKILL");
    await once(child, "exit");
    await ours.acquireThread("t");
  });
});

it("processes that write to different threads at once all get through", async () => {
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
});

/** A process that holds thread `t`, or writes 50 checkpoints to a thread of its own; then says so and stays. */
function holder(job: string): { child: ChildProcess; done: Promise<unknown> } {
  const program = `
    import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
    import { sqliteSaver } from ${JSON.stringify(join(import.meta.dirname, "index.ts"))};
    const saver = await sqliteSaver(${JSON.stringify(file)});
    const job = ${JSON.stringify(job)};
    const thread = job === "holds" ? "t" : job;
    const count = job === "holds" ? 1 : 50;
    await saver.acquireThread(thread);
    for (let step = 0; step < count; step++) {
      const checkpoint = { ...emptyCheckpoint(), id: String(step).padStart(3, "0"), channel_values: { text: job.repeat(99) } };
      const config = { configurable: { thread_id: thread } };
      await saver.put(config, checkpoint, { source: "loop", step, parents: {} }, { text: step });
    }
    console.log("ready");
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  return { child, done: once(child.stdout, "data") };
}

async function save(saver: SqliteSaver, thread: string): Promise<void> {
  const config = { configurable: { thread_id: thread } };
  await saver.put(config, emptyCheckpoint(), { source: "loop", step: 0, parents: {} }, {});
}
