import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "@langchain/langgraph-sdk";
import { describe, expect, it } from "vitest";
import { STORES_BELOW, type StorePlace } from "../../../../test/helpers/postgres/stores.ts";
import { createDeepAgent } from "../../../deep/index.ts";
import type { ThreadStore } from "../../../storage/index.ts";
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

describe.each(STORES_BELOW)("in $name,", ({ create }) => {
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

  it.concurrent("a schedule survives its server, and starts the input it was changed to", async ({
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

  it.concurrent("an invalid change is refused, and the existing schedule stays unchanged", async ({
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

  it.concurrent("a run for later is pending until its time, and can be stopped", async ({
    onTestFinished,
  }) => {
    const { asked, serve } = await begin(onTestFinished);
    const { client } = await serve();
    const { thread_id: thread } = await client.threads.create();
    const later = (words: string, afterSeconds: number) =>
      client.runs.create(thread, "agent", { input: ask(words), afterSeconds });
    const stopped = await later("stopped", 3600);
    expect(stopped.status).toBe("pending");
    await client.runs.cancel(thread, stopped.run_id, true);
    expect(await client.runs.get(thread, stopped.run_id)).toMatchObject({ status: "interrupted" });
    await later("soon", 0.1);
    await until(async () => (await settled(client, thread)) === 1);
    expect(asked).toEqual(["soon"]);
  });
});
