import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { createAgent, tool } from "langchain";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { takeThreads } from "../../../attack/takeovers.ts";
import { ask, newDatabase } from "../../../test/helpers/postgres/database.ts";
import { PASSWORD, startPostgres } from "../../../test/helpers/postgres/server.ts";
import { planMiddleware } from "../../middleware/plan/index.ts";
import { callTool, ScriptedModel } from "../../testing/index.ts";
import { checkStore } from "../care/check.ts";
import { postgresSaver, postgresStore } from "../postgres.ts";
import type { PostgresSaver } from "./saver.ts";

let url: string;
beforeAll(async () => void (url = await newDatabase()));

const ROUNDS = 6;
const thread = (id: string) => ({ configurable: { thread_id: id }, recursionLimit: 1000 });

/** An agent that looks at so many things, each a kilobyte of text. */
function agentOf(checkpointer: PostgresSaver, rounds: number, look: () => Promise<void> = async () => {}) {
  const tools = [
    tool(
      async ({ at }) => {
        await look();
        return textOf(at);
      },
      { name: "look", description: "look", schema: z.object({ at: z.number() }) },
    ),
  ];
  const steps = Array.from({ length: rounds }, (_, at) => callTool("look", { at }));
  return createAgent({
    model: new ScriptedModel([...steps, "Done."]),
    tools,
    middleware: [planMiddleware({ reminders: false })],
    checkpointer,
  });
}

/** A kilobyte that no other text has, and that does not compress to nothing. */
function textOf(at: number): string {
  let state = at + 1;
  const word = (): string => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return state.toString(36);
  };
  return `${at} ${Array.from({ length: 150 }, word).join(" ")}`.slice(0, 1000);
}

async function texts(saver: PostgresSaver, id: string): Promise<string[]> {
  const tuple = await saver.getTuple(thread(id));
  const { messages = [] } = (tuple?.checkpoint.channel_values ?? {}) as { messages?: AIMessage[] };
  return messages.map(({ text }) => text).filter((text) => text !== "");
}

const WHOLE = ["go", ...Array.from({ length: ROUNDS }, (_, at) => textOf(at)), "Done."];
const go = () => ({ messages: [new HumanMessage("go")] });

describe("the first start", () => {
  it("creates the tables once, however many processes start at once", async () => {
    const savers = await Promise.all(
      Array.from({ length: 6 }, () => postgresSaver(url, { schema: "first" })),
    );
    await agentOf(savers[0]!, 1).invoke(go(), thread("t"));
    expect(await texts(savers[5]!, "t")).toEqual(["go", textOf(0), "Done."]);
    await Promise.all(savers.map((saver) => saver.close()));
  });

  it("upgrades tables of the first format, which pass a check", async () => {
    const options = { schema: "earlier" };
    const before = await postgresSaver(url, options);
    await agentOf(before, 1).invoke(go(), thread("t"));
    await before.close();
    await ask(url, "DROP TABLE earlier.schedules; UPDATE earlier.format SET version = 1");
    expect(await checkStore(url, options)).toEqual([]);
    const saver = await postgresSaver(url, options);
    expect(await texts(saver, "t")).toEqual(["go", textOf(0), "Done."]);
    expect(await saver.ledger.schedules()).toEqual([]);
    await saver.close();
  });

  it("refuses tables of a newer version, and leaves them as they are", async () => {
    await (await postgresSaver(url, { schema: "newer" })).close();
    await ask(url, "UPDATE newer.format SET version = 99");
    await expect(postgresSaver(url, { schema: "newer" })).rejects.toMatchObject({ code: "storage-version" });
    expect(await ask(url, "SELECT version FROM newer.format")).toEqual([{ version: 99 }]);
  });
});

describe("a wrong address", () => {
  it.each([
    ["a wrong password", () => url.replace(/:[^:@]*@/, ":a-wrong-secret@"), "password authentication failed"],
    ["a database that is not there", () => url.replace(/[^/]*$/, "nothing"), "does not exist"],
    ["a server that is not there", () => "postgres://me:a-wrong-secret@127.0.0.1:1/x", "ECONNREFUSED"],
    ["no address", () => "postgres://me:a-wrong-secret@host:port/x", "cannot be read"],
  ])("gives one error without the password: %s", async (_, address, what) => {
    const error = await postgresSaver(address(), { patience: 100 }).catch((caught: Error) => caught);
    expect(error).toMatchObject({ name: "HarnessError", message: expect.stringContaining(what) as string });
    const text = JSON.stringify(error, Object.getOwnPropertyNames(error)) + String((error as Error).stack);
    for (const secret of ["a-wrong-secret", PASSWORD, encodeURIComponent(PASSWORD)]) {
      expect(text).not.toContain(secret);
    }
  });
});

describe("a damaged row", () => {
  let saver: PostgresSaver;
  let schema: string;
  let tests = 0;
  beforeEach(async () => {
    tests += 1;
    schema = `damaged_${tests}`;
    saver = await postgresSaver(url, { schema });
    await agentOf(saver, 2).invoke(go(), thread("t"));
    await saver.close();
    saver = await postgresSaver(url, { schema });
  });
  afterEach(() => saver.close());

  it.each([
    ["a message", "UPDATE S.blobs SET body = replace(body, 'Done', 'Gone')", /blob \d+ is damaged/],
    ["a blob", "DELETE FROM S.blobs WHERE id = 1", /refers to damaged data/],
    ["a checkpoint", "UPDATE S.checkpoints SET channels = '{}'", /checkpoint .* is damaged/],
    [
      "the newest checkpoint",
      "DELETE FROM S.checkpoints WHERE seq = (SELECT max(seq) FROM S.checkpoints)",
      /whole/,
    ],
    ["a write", "UPDATE S.writes SET value = '1'", /of \d+ writes to checkpoint/],
    ["all writes", "DELETE FROM S.writes", /of \d+ writes to checkpoint/],
    ["the record of the newest checkpoint", "UPDATE S.heads SET seq = seq - 1", /newest .* is damaged/],
    ["the entry in the list", "UPDATE S.threads SET title = 'other'", /list of threads is damaged/],
  ])("is never given out, and is found by a check: %s", async (_, sql, problem) => {
    expect(await checkStore(url, { schema })).toEqual([]);
    await ask(url, sql.replaceAll("S.", `${schema}.`));
    const reading = async (): Promise<void> => {
      await saver.listThreads();
      await saver.getTuple(thread("t"));
      for await (const tuple of saver.list(thread("t")))
        expect(tuple.checkpoint.channel_values).toBeDefined();
    };
    await expect(reading()).rejects.toMatchObject({ code: "storage-corrupt" });
    const problems = await checkStore(url, { schema });
    expect(problems.map(({ what }) => what).join("\n")).toMatch(problem);
  });

  it("is never returned from the item store, and is found by a check", async () => {
    const store = await postgresStore(url, { schema });
    await store.put(["users", "ann"], "a", { text: "kelp" });
    await ask(url, `UPDATE ${schema}.items SET value = '{"text":"eel"}'`);
    await expect(store.get(["users", "ann"], "a")).rejects.toMatchObject({ code: "storage-corrupt" });
    await store.close();
    expect(await checkStore(url, { schema })).toEqual([
      { what: "item a of users/ann in the store is damaged" },
    ]);
  });

  it("in the list of threads leaves orphans, which a check finds", async () => {
    await ask(url, `DELETE FROM ${schema}.threads`);
    expect(await checkStore(url, { schema })).toMatchObject([
      { what: "its entry in the list of threads is lost" },
    ]);
  });
});

describe("a thread", () => {
  it("is stored message by message, and grows only by its new messages", async () => {
    const saver = await postgresSaver(url, { schema: "growth" });
    const sizes: number[] = [];
    for (const rounds of [20, 40]) {
      await agentOf(saver, rounds).invoke(go(), thread(`${rounds}`));
      const [size] = await ask(
        url,
        `SELECT sum(length(body)) + (SELECT sum(length(head) + length(channels) + length(metadata)) FROM growth.checkpoints c
           WHERE c.thread = b.thread) + (SELECT sum(length(value)) FROM growth.writes w WHERE w.thread = b.thread) AS size
         FROM growth.blobs b WHERE thread = (SELECT key FROM growth.threads WHERE id = $1) GROUP BY thread`,
        [`${rounds}`],
      );
      sizes.push(Number(size!["size"]));
    }
    expect(sizes[1]! / sizes[0]!).toBeLessThan(2.2);
    const [found] = await ask(url, "SELECT count(*)::int AS count FROM growth.blobs WHERE body LIKE $1", [
      `%${textOf(7).slice(0, 60)}%`,
    ]);
    expect(found).toEqual({ count: 2 });
    await saver.close();
  });

  it("is not stored again when the thread continues in another process", async () => {
    const first = await postgresSaver(url, { schema: "again" });
    await agentOf(first, 10).invoke(go(), thread("t"));
    await first.close();
    const second = await postgresSaver(url, { schema: "again" });
    await agentOf(second, 1).invoke({ messages: [new HumanMessage("more")] }, thread("t"));
    const [found] = await ask(url, "SELECT count(*)::int AS count FROM again.blobs WHERE body LIKE $1", [
      `%${textOf(3).slice(0, 60)}%`,
    ]);
    expect(found).toEqual({ count: 1 });
    await second.close();
  });
});

describe("a lost connection", () => {
  it("is replaced in the middle of a run, and nothing is lost or done twice", async () => {
    const saver = await postgresSaver(url, { schema: "lost", poolSize: 2 });
    const cut = (): Promise<unknown> =>
      ask(
        url,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'holdfast' AND datname = current_database()",
      );
    const ids = ["a", "b", "c"];
    await Promise.all(
      ids.map((id) => agentOf(saver, ROUNDS, async () => void (await cut())).invoke(go(), thread(id))),
    );
    for (const id of ids) expect(await texts(saver, id)).toEqual(WHOLE);
    expect(await checkStore(url, { schema: "lost" })).toEqual([]);
    await saver.close();
  });

  it("between two statements of a transaction restarts it", async () => {
    const { database } = await postgresSaver(url, { schema: "midway" });
    let tries = 0;
    const answer = await database.transaction(async (query) => {
      tries += 1;
      const [{ pid } = {}] = await query("SELECT pg_backend_pid() AS pid");
      // It waits until the process has ended.
      if (tries === 1) await ask(url, "SELECT pg_terminate_backend($1, 10000)", [pid]);
      return query("SELECT 1 AS one");
    });
    expect({ tries, answer }).toEqual({ tries: 2, answer: [{ one: 1 }] });
    await database.close();
  });

  it("is restored after a server restart; a server that stays down gives one error", async () => {
    const server = await startPostgres();
    const saver = await postgresSaver(server.url);
    let restart: Promise<void> | undefined;
    const ids = ["a", "b", "c"];
    const look = async (): Promise<void> => void (restart ??= server.restart());
    const release = await saver.acquireThread("a");
    await Promise.all(ids.map((id) => agentOf(saver, ROUNDS, look).invoke(go(), thread(id))));
    await restart;
    for (const id of ids) expect(await texts(saver, id)).toEqual(WHOLE);
    expect(await checkStore(server.url)).toEqual([]);
    await release();
    await saver.close();

    const impatient = await postgresSaver(server.url, { patience: 300 });
    const newest = (await impatient.getTuple(thread("b")))!.config;
    await server.stop();
    const writes = ["one", "two"].map((task) => impatient.putWrites(newest, [["count", 1]], task));
    const failures = (await Promise.allSettled(writes)).map(
      (each) => "reason" in each && (each.reason as unknown),
    );
    expect(failures[0]).toMatchObject({ code: "storage-failed" });
    // They were one statement.
    expect(failures[1]).toBe(failures[0]);
    await expect(impatient.getTuple(thread("a"))).rejects.toMatchObject({
      code: "storage-failed",
      message: expect.stringMatching(
        /^postgres:\/\/127\.0\.0\.1:\d+\/postgres could not be used: .*waited for/,
      ) as string,
    });
    await impatient.close();
  });
});

it("a takeover sees all earlier writes, and the old holder writes nothing afterwards", async () => {
  const { failures, notes } = await takeThreads(await newDatabase(), { tries: 40, seed: 1 });
  expect(failures, notes).toBe(0);
  expect(notes).toMatch(/[1-9]\d* writes in time, [1-9]\d* refused/);
});
