import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HumanMessage } from "@langchain/core/messages";
import { createAgent } from "langchain";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { STORES, type StorePlace } from "../../test/helpers/postgres/stores.ts";
import { ScriptedModel } from "../testing/index.ts";
import { checkStore } from "./care/check.ts";
import { repairStore } from "./care/repair.ts";
import { sqliteSaver } from "./sqlite.ts";
import { Connection } from "./sqlite/database/connection.ts";
import type { ThreadStore } from "./store/thread-store.ts";

let folder: string;
let file: string;
let saver: ThreadStore;
let place: StorePlace;
async function fill(): Promise<void> {
  for (const thread_id of ["t", "u"]) {
    const agent = createAgent({ model: new ScriptedModel(["Done."]), checkpointer: saver });
    await agent.invoke({ messages: [new HumanMessage("go")] }, { configurable: { thread_id } });
  }
}

async function change(sql: string): Promise<void> {
  const connection = await Connection.open(file);
  connection.exec(sql);
  connection.close();
}

describe.each(STORES)("in $name,", ({ create }) => {
  beforeEach(async () => {
    place = await create();
    saver = await place.open();
    await fill();
  });
  afterEach(async () => {
    await saver.close();
    place.remove();
  });

  it("letters wait in order for their own thread, and each answer is fetched once", async () => {
    const mailbox = (await saver.mailbox("t"))!;
    const [first, second] = [await mailbox.post({ todos: ["a"] }), await mailbox.post({ todos: ["b"] })];
    expect((await mailbox.waiting()).map(({ id }) => id)).toEqual([first, second]);
    expect(await (await saver.mailbox("u"))!.waiting()).toEqual([]);
    await mailbox.begin(first, ["a"]);
    expect((await mailbox.waiting())[0]).toEqual({ id: first, content: { todos: ["a"] }, begun: ["a"] });
    expect(await mailbox.fetch(first)).toBeUndefined();
    await mailbox.answer(first, { todos: [] });
    expect((await mailbox.waiting()).map(({ id }) => id)).toEqual([second]);
    expect(await mailbox.fetch(first)).toEqual({ todos: [] });
    await expect(mailbox.fetch(first)).rejects.toThrow("withdrawn");
  });

  it("a letter can be withdrawn until a process begins it, and its id is not reused", async () => {
    const mailbox = (await saver.mailbox("t"))!;
    const id = await mailbox.post({});
    expect(await mailbox.withdraw(id)).toBe(true);
    await expect(mailbox.begin(id, [])).rejects.toThrow("withdrawn");
    const next = await mailbox.post({});
    expect(next).toBeGreaterThan(id);
    await mailbox.begin(next, []);
    expect(await mailbox.withdraw(next)).toBe(false);
  });

  it("letters are deleted with their thread", async () => {
    const mailbox = (await saver.mailbox("t"))!;
    await mailbox.post({});
    await saver.deleteThread("t");
    expect(await mailbox.waiting()).toEqual([]);
    expect(await saver.mailbox("t")).toBeUndefined();
  });
});

describe("in a SQLite file,", () => {
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "holdfast-mailbox-"));
    file = join(folder, "threads.db");
    saver = await sqliteSaver(file);
    await fill();
  });
  afterEach(async () => {
    await saver.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it("a damaged letter is never read, found by a check, and left out by a repair", async () => {
    const mailbox = (await saver.mailbox("t"))!;
    await mailbox.post({ todos: ["a"] });
    await (await saver.mailbox("u"))!.post({ todos: ["b"] });
    await change(`UPDATE edits SET content = '{"todos":["c"]}' WHERE id = 1`);
    await expect(mailbox.waiting()).rejects.toThrow("does not match its checksum");
    expect(await checkStore(file)).toEqual([
      { thread: "t", what: "an edit of its plan that waits is damaged" },
    ]);
    await saver.close();
    await repairStore(file);
    saver = await sqliteSaver(file);
    expect(await (await saver.mailbox("t"))!.waiting()).toEqual([]);
    expect(await (await saver.mailbox("u"))!.waiting()).toMatchObject([{ content: { todos: ["b"] } }]);
  });
});
