import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { InMemoryStore, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import Database from "libsql";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { STORES, type StorePlace } from "../../../test/helpers/postgres/stores.ts";
import { createDeepAgent } from "../../deep/index.ts";
import { sqliteSaver, type ThreadStore } from "../../storage/index.ts";
import { ScriptedModel, type Step } from "../../testing/index.ts";
import { RunHost } from "../../threads/host/host.ts";
import type { Run } from "../../threads/host/hosted-run.ts";
import { hostedGraph, type ServedGraph } from "./graphs.ts";

let saver: ThreadStore;
let hosts: RunHost[];
/** Lets the models answer that wait. */
let release: () => void;
let released: Promise<void>;

beforeEach(() => {
  hosts = [];
  released = new Promise((resolve) => {
    release = resolve;
  });
});
afterEach(async () => {
  release();
  await Promise.all(hosts.map((host) => host.stop()));
  await saver.close();
});

function hostOf(steps: Step[], checkpointer = saver): RunHost {
  return made(createDeepAgent({ model: new ScriptedModel(steps, { loop: true }) }), checkpointer);
}

/** A host of a graph that does nothing, for many runs. */
function idleHost(): RunHost {
  const graph = new StateGraph(MessagesAnnotation).addNode("idle", () => ({}));
  return made(graph.addEdge(START, "idle").compile(), saver);
}

function made(agent: ServedGraph, checkpointer: ThreadStore): RunHost {
  const graph = hostedGraph("agent", agent, { checkpointer, store: new InMemoryStore() });
  const { ledger } = checkpointer;
  const host = new RunHost({ graphs: new Map([["agent", graph]]), checkpointer, ledger });
  hosts.push(host);
  return host;
}

const ask = (content: string) => ({ graph: "agent", input: { messages: [{ type: "human", content }] } });
const waiting: Step = async () => {
  await released;
  return "Done.";
};
const until = async (isSo: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 5));
};
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
const isAtWork = async (run: Run): Promise<boolean> =>
  run.live.all().some(({ type }) => type === "model-start");
const textsOf = async (thread: string): Promise<string[]> => {
  const tuple = await saver.getTuple({ configurable: { thread_id: thread } });
  const { messages = [] } = (tuple?.checkpoint.channel_values ?? {}) as { messages?: { text: string }[] };
  return messages.map(({ text }) => text);
};

describe.each(STORES)("a server with threads in $name,", ({ create }) => {
  let place: StorePlace;
  beforeEach(async () => {
    place = await create();
    saver = await place.open();
  });
  afterEach(() => place.remove());

  it("refuses one of two runs that clients request at once", async () => {
    const host = hostOf([waiting]);
    const both = await Promise.allSettled([host.start("t", ask("One")), host.start("t", ask("Two"))]);
    expect(both.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  });

  it("keeps only the later of two runs that replace another at once", async () => {
    const host = hostOf([waiting]);
    const first = await host.start("t", ask("First"));
    await until(() => isAtWork(first));
    const [second, third] = await Promise.all(
      ["Second", "Third"].map((words) => host.start("t", { ...ask(words), strategy: "interrupt" })),
    );
    expect(second!.record.status).toBe("interrupted");
    release();
    await third!.done;
    expect(third!.record.status).toBe("success");
  });

  it("starts a run while a plan is being edited", async () => {
    const host = hostOf(["Done."]);
    await (
      await host.start("t", ask("First"))
    ).done;
    // As an edit does.
    const giveBack = await saver.acquireThread("t");
    const acquire = vi.spyOn(saver, "acquireThread");
    const run = await host.start("t", ask("Second"));
    await until(() => acquire.mock.calls.length > 0);
    await giveBack();
    await run.done;
    expect(run.result?.error).toBeUndefined();
  });

  it("leaves another server's runs alone, and takes them over when that server is gone", async () => {
    const first = hostOf([waiting]);
    const run = await first.start("t", ask("First"));
    const queued = await first.start("t", { ...ask("Second"), strategy: "enqueue" });
    await until(() => isAtWork(run));

    const otherSaver = await place.open();
    const second = hostOf([waiting], otherSaver);
    await second.recover();
    expect(second.isBusy("t")).toBe(false);
    expect(await saver.ledger.thread("t")).toMatchObject({ hasFailed: false });
    const records = await Promise.all([run.id, queued.id].map((id) => saver.ledger.run(id)));
    expect(records.map((record) => record?.status)).toEqual(["running", "pending"]);

    // It stops where nothing is lost, and leaves what it had not begun.
    await first.stop();
    await until(() => second.run(queued.id) !== undefined);
    expect(second.run(run.id)).toBeUndefined();
    release();
    await second.run(queued.id)!.done;
    expect(await textsOf("t")).toContain("Second");
    await second.stop();
    await otherSaver.close();
  });

  it("does not show a deleted thread's events to the next owner of its name", async () => {
    const host = hostOf(["Done."]);
    const otherSaver = await place.open();
    const other = hostOf([], otherSaver);
    const again = async (thread: string): Promise<void> => {
      await other.remove(thread);
      await other.noteThread(thread, { owner: "bob" });
    };
    for (const thread of ["t", "u"])
      await (
        await host.start(thread, ask("Hi"), { note: { owner: "ann" } })
      ).done;
    const log = await host.protocol("t");
    expect(log.since(0)).not.toEqual([]);
    await again("t");
    expect((await host.protocol("t")).since(0)).toEqual([]);
    // Also where nobody looks before the next run: who still reads is told no more.
    const { last } = await host.protocol("u");
    const reading = (await host.protocol("u")).read(last).next();
    await again("u");
    await (
      await host.start("u", ask("Hello"))
    ).done;
    expect(await reading).toMatchObject({ done: true });
    await otherSaver.close();
  });

  it("rolls a run that started before a kill back to its own start", async () => {
    const before = hostOf(["Done.", waiting]);
    await (
      await before.start("t", ask("First"))
    ).done;
    const half = await before.start("t", ask("Second"));
    await until(() => isAtWork(half));
    await before.stop();
    await saver.ledger.putRun({ ...half.record, status: "running" });

    const after = hostOf([waiting]);
    await after.recover();
    await until(() => isAtWork(after.run(half.id)!));
    await after.start("t", { ...ask("Third"), strategy: "enqueue" });
    await after.cancelAll("t", { isRolledBack: true });
    expect(await textsOf("t")).toEqual(["First", "Done."]);
  });

  it("numbers a run's events after a kill higher than all events before", async () => {
    const before = hostOf([waiting]);
    const run = await before.start("t", ask("First"));
    await until(() => isAtWork(run));
    const { last } = run.chunks;
    await before.stop();
    await saver.ledger.putRun({ ...run.record, status: "running" });

    const after = hostOf(["Done."]);
    await after.recover();
    const again = after.run(run.id)!;
    await again.done;
    expect(again.record).toMatchObject({ status: "success", attempt: 2 });
    const [first] = again.chunks.since(last);
    expect(first).toMatchObject({ event: { event: "metadata", data: { attempt: 2 } } });
  });

  it("resends only unsent events after a kill before the run's start was saved", async () => {
    const before = hostOf([waiting]);
    const run = await before.start("t", ask("First"));
    await until(() => isAtWork(run));
    // All that is said before the start is written.
    const [told] = run.chunks.since(0);
    expect(told).toMatchObject({ event: { event: "metadata" } });
    await before.cancel(run.id, { isRolledBack: true });
    const { base: _, ...record } = run.record;
    await saver.ledger.putRun({ ...record, status: "pending" });

    const after = hostOf(["Done."]);
    await after.recover();
    const again = after.run(run.id)!;
    await again.done;
    expect(again.record).toMatchObject({ status: "success", attempt: 1 });
    expect(again.chunks.since(told!.n)).toEqual(again.chunks.since(0).slice(1));
  });

  it("makes room for the next run while a run's end is being saved", async () => {
    const host = hostOf(["Done."]);
    const first = await host.start("t", ask("First"));
    while (!first.isOver) await turn();
    const next = await host.start("t", { ...ask("Second"), strategy: "interrupt" });
    await next.done;
    expect(await textsOf("t")).toEqual(["First", "Done.", "Second", "Done."]);
  });

  it("rolls a run back, or finds it over, at every moment of its end", async () => {
    const host = hostOf(["Done."]);
    let wasOver = false;
    for (let late = 0; !wasOver; late++) {
      const run = await host.start(`t${late}`, ask("First"));
      while (!run.live.all().some(({ type }) => type === "run-end")) await turn();
      for (let turns = 0; turns < late; turns++) await turn();
      wasOver = !(await host.cancel(run.id, { isRolledBack: true }));
      expect(await textsOf(run.thread)).toEqual(wasOver ? ["First", "Done."] : []);
    }
  });
});

describe("a server with threads in a SQLite file,", () => {
  let folder: string;
  let path: string;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "holdfast-races-"));
    path = join(folder, "threads.db");
    saver = await sqliteSaver(path);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it("ends a run whose end cannot be saved, without effect on other runs", async () => {
    const host = hostOf([waiting]);
    const run = await host.start("t", ask("First"));
    await until(() => isAtWork(run));
    const other = new Database(path);
    other.exec("ALTER TABLE runs RENAME TO gone");
    release();
    await run.done;
    await until(() => !host.isBusy("t"));
    other.exec("ALTER TABLE gone RENAME TO runs");
    other.close();
    const next = await host.start("t", ask("Second"));
    await next.done;
    expect(next.record.status).toBe("success");
  });

  it("keeps the newest ended runs, and older ones while a thread's reader stays", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const host = idleHost();
    const refs: WeakRef<Run>[] = [];
    const ran = async (thread: string): Promise<void> => {
      const run = await host.start(thread, ask("Hi"));
      refs.push(new WeakRef(run));
      await run.done;
    };
    const gone = new AbortController();
    const log = await host.protocol("t");
    const reader = log.read(log.last, { signal: gone.signal });
    const next = reader.next();
    await ran("t");
    await next;
    for (let n = 0; n < 109; n += 1) await ran(`t${n % 10}`);
    const kept = (): number => refs.filter((ref) => ref.deref() !== undefined).length;
    await until(() => {
      collect();
      return kept() <= 101;
    });
    expect(kept()).toBeGreaterThanOrEqual(100);

    // A thread whose reader stayed longer than its runs is forgotten with the reader.
    expect(await host.protocol("t")).toBe(log);
    gone.abort();
    await reader.return();
    expect(await host.protocol("t")).not.toBe(log);
  });
});
