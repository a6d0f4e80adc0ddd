import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "@langchain/langgraph-sdk";
import Database from "libsql";
import { describe, expect, it } from "vitest";
import { STORES, type StorePlace } from "../../../../test/stores.ts";
import { createDeepAgent } from "../../../deep/index.ts";
import { sqliteSaver, type ThreadStore } from "../../../storage/index.ts";
import { ScriptedModel } from "../../../testing/index.ts";
import { createServer, listen } from "../index.ts";

interface Opened {
  client: Client;
  store: ThreadStore;
  end: () => Promise<void>;
}

const OFTEN = "* * * * * *";
const ask = (content: string) => ({ messages: [{ type: "human", content }] });

/** The servers of one test on one store: many tests wait for the clock, and do so at the same time. */
function stage<Place extends Pick<StorePlace, "open" | "remove">>(place: Place) {
  let open: Opened[] = [];
  /** What the models of all servers were asked. */
  const asked: string[] = [];
  const serve = async (): Promise<Opened> => {
    const checkpointer = await place.open();
    const model = new ScriptedModel(
      [
        ({ messages }) => {
          asked.push(messages.at(-1)!.text);
          return "Done.";
        },
      ],
      { loop: true },
    );
    const agent = createDeepAgent({ model, plan: false });
    const server = await createServer({ graphs: { agent }, checkpointer });
    const { url: apiUrl, close } = await listen(server, { port: 0, hostname: "127.0.0.1" });
    const client = new Client({ apiUrl, apiKey: server.token!, callerOptions: { maxRetries: 0 } });
    const end = async (): Promise<void> => {
      open = open.filter((other) => other !== opened);
      await server.close();
      await close();
      await checkpointer.close();
    };
    const opened: Opened = { client, store: checkpointer, end };
    open.push(opened);
    return opened;
  };
  const end = async (): Promise<void> => {
    for (const one of open) await one.end();
    place.remove();
  };
  return { place, asked, serve, end };
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(20);
}

const settled = async (client: Client, thread: string): Promise<number> =>
  (await client.runs.list(thread, { limit: 1000 })).filter(({ status }) => status === "success").length;

describe.each(STORES)("in $name,", ({ create }) => {
  const begin = async (onTestFinished: (end: () => Promise<void>) => void) => {
    const { end, ...begun } = stage(await create());
    onTestFinished(end);
    return begun;
  };

  it.concurrent("a schedule starts a run at each of its moments, by one of two servers", async ({
    onTestFinished,
  }) => {
    const { asked, serve } = await begin(onTestFinished);
    const [one, other] = [await serve(), await serve()];
    const { thread_id: thread } = await one.client.threads.create();
    const begun = Date.now();
    const { cron_id: id } = await one.client.crons.createForThread(thread, "agent", {
      schedule: OFTEN,
      input: ask("Tidy up"),
    });
    expect(await other.client.crons.search({ threadId: thread })).toMatchObject([
      { cron_id: id, schedule: OFTEN, enabled: true },
    ]);
    await until(async () => (await settled(one.client, thread)) >= 3);
    await other.client.crons.delete(id);
    await expect(one.client.crons.delete(id)).rejects.toThrow(/404/);
    const seconds = Math.ceil((Date.now() - begun) / 1000);
    // One that was due may have begun while the schedule was deleted.
    const list = () => one.client.runs.list(thread, { limit: 1000 });
    await until(async () => (await list()).every(({ status }) => status === "success"));
    const runs = await list();
    expect(runs.length).toBeLessThanOrEqual(seconds);
    expect(asked).toHaveLength(runs.length);
    expect(await one.client.crons.count()).toBe(0);
  });

  it.concurrent("without a thread each run has its own", async ({ onTestFinished }) => {
    const { asked, serve } = await begin(onTestFinished);
    const { client } = await serve();
    const { cron_id: id } = await client.crons.create("agent", {
      schedule: OFTEN,
      input: ask("Look around"),
    });
    await until(() => asked.length >= 2);
    await client.crons.delete(id);
    expect((await client.threads.search()).length).toBeGreaterThanOrEqual(2);
  });

  it.concurrent("a schedule outlasts its server, rests while it is told to, and starts what it was changed to", async ({
    onTestFinished,
  }) => {
    const { asked, serve } = await begin(onTestFinished);
    const first = await serve();
    const { thread_id: thread } = await first.client.threads.create();
    const { cron_id: id } = await first.client.crons.createForThread(thread, "agent", {
      schedule: OFTEN,
      input: ask("first"),
      metadata: { kind: "nightly" },
      enabled: false,
    });
    await first.end();
    const { client } = await serve();
    await sleep(1500);
    expect(await client.runs.list(thread)).toEqual([]);
    await Promise.all([
      client.crons.update(id, { input: ask("second") }),
      client.crons.update(id, { metadata: { kind: "hourly" } }),
    ]);
    expect(await client.crons.update(id, { enabled: true })).toMatchObject({
      enabled: true,
      metadata: { kind: "hourly" },
    });
    await until(async () => (await settled(client, thread)) > 0);
    await client.crons.delete(id);
    expect(new Set(asked)).toEqual(new Set(["second"]));
  });

  it.concurrent("a moment that passed while there was no server is not made up for", async ({
    onTestFinished,
  }) => {
    const { serve } = await begin(onTestFinished);
    const { client, store } = await serve();
    const { thread_id: thread } = await client.threads.create();
    const { cron_id: id } = await client.crons.createForThread(thread, "agent", {
      schedule: "0 0 29 2 *",
      input: ask("Leap"),
    });
    const yesterday = Date.now() - 24 * 60 * 60 * 1000;
    await store.ledger.changeSchedule(id, (before) => ({ ...before!, due: yesterday }));
    await until(async () => (await store.ledger.schedules(Date.now())).length === 0);
    expect(await client.runs.list(thread)).toEqual([]);
    const due = new Date((await store.ledger.schedules())[0]!.due!);
    expect([due.getUTCMonth(), due.getUTCDate()]).toEqual([1, 29]);
  });

  it.concurrent("a schedule goes by the clock of its time zone", async ({ onTestFinished }) => {
    const { serve } = await begin(onTestFinished);
    const { client, store } = await serve();
    const hourOf = async (): Promise<number> =>
      new Date((await store.ledger.schedules())[0]!.due!).getUTCHours();
    const { cron_id: id } = await client.crons.create("agent", {
      schedule: "0 9 * * *",
      timezone: "Asia/Tokyo",
      input: ask("Good morning"),
    });
    expect(await client.crons.search()).toMatchObject([{ cron_id: id, timezone: "Asia/Tokyo" }]);
    expect(await hourOf()).toBe(0);
    expect(await client.crons.update(id, { schedule: "0 10 * * *" })).toMatchObject({
      timezone: "Asia/Tokyo",
    });
    expect(await hourOf()).toBe(1);
    expect(await client.crons.update(id, { timezone: "UTC" })).toMatchObject({ timezone: "UTC" });
    expect(await hourOf()).toBe(10);
  });

  it.concurrent("a schedule starts nothing after its end, until it has another", async ({
    onTestFinished,
  }) => {
    const { serve } = await begin(onTestFinished);
    const { client, store } = await serve();
    const { thread_id: thread } = await client.threads.create();
    const endTime = new Date(Date.now() + 1500).toISOString();
    const { cron_id: id } = await client.crons.createForThread(thread, "agent", {
      schedule: OFTEN,
      endTime,
      input: ask("Tidy up"),
    });
    const isOver = async (): Promise<boolean> => (await store.ledger.schedules())[0]!.due === undefined;
    await until(isOver);
    expect(await client.crons.search()).toMatchObject([{ cron_id: id, end_time: endTime, enabled: true }]);
    expect((await client.runs.list(thread)).length).toBeLessThanOrEqual(2);
    // Without a zone it is UTC.
    expect(await client.crons.update(id, { endTime: "2999-01-01T00:00:00" })).toMatchObject({
      end_time: "2999-01-01T00:00:00.000Z",
    });
    expect(await isOver()).toBe(false);
    await client.crons.delete(id);
  });

  it.concurrent("what cannot be kept is refused, and what is there is left as it was", async ({
    onTestFinished,
  }) => {
    const { serve } = await begin(onTestFinished);
    const { client } = await serve();
    const { thread_id: thread } = await client.threads.create();
    const add = (schedule: string) => client.crons.createForThread(thread, "agent", { schedule });
    for (const none of [
      "sometimes",
      "99 * * * *",
      "0 0 30 2 *",
      "2030-01-01T00:00:00",
      "* * * * * * *",
      "",
    ]) {
      await expect(add(none), none).rejects.toThrow(/422/);
    }
    const { cron_id: id } = await add(" 0 9 * * MON ");
    for (const [change, reason] of [
      [{ schedule: "0 0 31 2 *" }, /422.*0 0 31 2.*does not come/],
      [{ timezone: "Mars/Olympus" }, /422.*timezone: there is no time zone/],
      [{ timezone: "" }, /422.*timezone/],
      [{ endTime: "soon" }, /422.*end_time/],
    ] as const) {
      await expect(client.crons.update(id, change)).rejects.toThrow(reason);
    }
    await expect(client.crons.update("nobody", { enabled: true })).rejects.toThrow(/404.*Cron nobody/);
    expect(await client.crons.search({ limit: 5 })).toMatchObject([
      { cron_id: id, schedule: "0 9 * * MON", enabled: true },
    ]);
  });

  it.concurrent("a run for later waits for its time and keeps nobody waiting, also when another server has it then", async ({
    onTestFinished,
  }) => {
    const { asked, serve } = await begin(onTestFinished);
    const first = await serve();
    const { thread_id: thread } = await first.client.threads.create();
    const later = await first.client.runs.create(thread, "agent", { input: ask("later"), afterSeconds: 5 });
    expect(later.status).toBe("pending");
    await first.client.runs.wait(thread, "agent", { input: ask("now") });
    await first.end();
    const [second] = [await serve(), await serve()];
    await until(async () => (await settled(second.client, thread)) === 2);
    await sleep(1200);
    expect(asked).toEqual(["now", "later"]);
    const { created_at: created, updated_at: updated } = await second.client.runs.get(thread, later.run_id);
    expect(Date.parse(updated) - Date.parse(created)).toBeGreaterThanOrEqual(5000);
  });

  it.concurrent("a run for later can be stopped, and goes with its thread", async ({ onTestFinished }) => {
    const { asked, serve } = await begin(onTestFinished);
    const { client } = await serve();
    const { thread_id: thread } = await client.threads.create();
    const stopped = await client.runs.create(thread, "agent", { input: ask("stopped"), afterSeconds: 3 });
    await client.runs.cancel(thread, stopped.run_id, true);
    expect(await client.runs.get(thread, stopped.run_id)).toMatchObject({ status: "interrupted" });
    const { thread_id: gone } = await client.threads.create();
    await client.runs.create(gone, "agent", { input: ask("gone"), afterSeconds: 3 });
    const schedule = `${new Date(Date.now() + 3000).getUTCSeconds()} * * * * *`;
    await client.crons.createForThread(gone, "agent", { schedule, input: ask("gone") });
    await client.threads.delete(gone);
    const alone = await client.runs.create(null, "agent", { input: ask("alone"), afterSeconds: 60 });
    await client.runs.cancel(alone.thread_id, alone.run_id, true);
    await sleep(4500);
    expect(asked).toEqual([]);
    expect(await client.crons.count()).toBe(0);
    expect((await client.threads.search()).map(({ thread_id: id }) => id)).toEqual([thread]);
  });

  it.concurrent("a run for later is begun once, by whichever server is there, and can be stopped by any", async ({
    onTestFinished,
  }) => {
    const { asked, serve } = await begin(onTestFinished);
    const [first, second] = [await serve(), await serve()];
    const { thread_id: thread } = await first.client.threads.create();
    const later = (words: string, afterSeconds: number) =>
      first.client.runs.create(thread, "agent", { input: ask(words), afterSeconds });
    const stopped = await later("stopped", 3);
    await second.client.runs.cancel(thread, stopped.run_id, true);
    await later("left", 1);
    const due = await later("due", 4);
    await first.end();
    await until(async () => (await settled(second.client, thread)) >= 1);
    await second.end();
    await until(() => Date.now() > Date.parse(due.created_at) + 4000);
    const [third] = await Promise.all([serve(), serve()]);
    await until(async () => (await settled(third.client, thread)) === 2);
    await sleep(1200);
    expect(asked).toEqual(["left", "due"]);
  });

  it.concurrent("what is due on a thread that another process is at waits for it", async ({
    onTestFinished,
  }) => {
    const { place, asked, serve } = await begin(onTestFinished);
    const { client } = await serve();
    const elsewhere = await place.open();
    const { thread_id: thread } = await client.threads.create();
    await client.runs.wait(thread, "agent", { input: ask("first") });
    const release = await elsewhere.acquireThread(thread);
    await client.runs.create(thread, "agent", { input: ask("later"), afterSeconds: 0.1 });
    const cron = { schedule: OFTEN, input: ask("often") };
    const { cron_id: id } = await client.crons.createForThread(thread, "agent", cron);
    await until(async () => (await client.runs.list(thread)).length > 2);
    await client.crons.delete(id);
    await sleep(3500);
    expect(asked).toEqual(["first"]);
    await release();
    await elsewhere.close();
    const runs = await client.runs.list(thread);
    await until(async () => (await settled(client, thread)) === runs.length);
    expect(asked.toSorted()).toEqual(["first", "later", ...runs.slice(2).map(() => "often")]);
  });

  it.concurrent("a change of something else keeps the moment, and a clock that was set back does not silence a schedule", async ({
    onTestFinished,
  }) => {
    const { asked, serve } = await begin(onTestFinished);
    const first = await serve();
    const { client, store } = first;
    const yearly = { schedule: "0 0 1 1 *", input: ask("Yearly") };
    const { cron_id: id } = await client.crons.create("agent", yearly);
    const { cron_id: often } = await client.crons.create("agent", { schedule: OFTEN, input: ask("Often") });
    await client.crons.update(often, { enabled: false });
    const change = async (schedule: string, due: number): Promise<void> => {
      await store.ledger.changeSchedule(schedule, (found) => ({ ...found!, due }));
    };
    await change(id, Date.now());
    await client.crons.update(id, { metadata: { kind: "yearly" } });
    await until(() => asked.includes("Yearly"));
    asked.length = 0;
    await client.crons.update(often, { enabled: true });
    await change(often, Date.now() + 3_600_000);
    await first.end();
    await serve();
    await until(() => asked.length > 0);
    expect(new Set(asked)).toEqual(new Set(["Often"]));
  });
});

it("a damaged schedule or run for later keeps no other from its time", async () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-crons-"));
  const file = join(folder, "threads.db");
  const { asked, serve, end } = stage({
    open: () => sqliteSaver(file),
    remove: () => rmSync(folder, { recursive: true }),
  });
  const { client, store } = await serve();
  const { thread_id: thread } = await client.threads.create();
  const add = (words: string) => client.crons.create("agent", { schedule: OFTEN, input: ask(words) });
  const bad = await add("damaged");
  await client.crons.update(bad.cron_id, { enabled: false });
  const { cron_id: unreadable } = await add("unreadable");
  const later = (words: string) =>
    client.runs.create(thread, "agent", { input: ask(words), afterSeconds: 2 });
  const lost = await later("lost");
  await later("later");
  const database = new Database(file);
  database.prepare("UPDATE schedules SET due = 1 WHERE id = ?").run([bad.cron_id]);
  database.prepare("UPDATE runs SET created = 1 WHERE id = ?").run([lost.run_id]);
  database.close();
  await store.ledger.changeSchedule(unreadable, (found) => ({ ...found!, content: { cron: "?" } }));
  await add("whole");
  await until(() => asked.includes("whole") && asked.includes("later"));
  expect(asked).not.toContain("lost");
  await end();
});
