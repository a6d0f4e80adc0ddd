import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { writeTwoThreads } from "../../../test/helpers/postgres/stored-threads.ts";
import { backupStore, checkStore, repairStore, sqliteStore } from "../index.ts";
import { Connection } from "./database/connection.ts";

const PAGE = 4096;
const ANN = ["users", "ann"];

let folder: string;
let file: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-items-"));
  file = join(folder, "threads.db");
  await writeTwoThreads(file);
  await fill(file, { a: "kelp", b: "eel", c: "crab" });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it("the store never returns a damaged item; a check finds it, a repair drops it", async () => {
  await change(`UPDATE items SET value = '{"text":"shark"}' WHERE key = 'a'`);
  const store = await sqliteStore(file);
  const damaged = { code: "storage-corrupt" };
  await expect(store.get(ANN, "a")).rejects.toMatchObject(damaged);
  await expect(store.put(ANN, "a", {})).rejects.toMatchObject(damaged);
  await expect(store.search(ANN)).rejects.toMatchObject(damaged);
  await expect(store.listNamespaces()).rejects.toMatchObject(damaged);
  expect((await store.get(ANN, "b"))?.value).toEqual({ text: "eel" });
  expect(await checkStore(file)).toEqual([{ what: "item a of users/ann in the store is damaged" }]);
  await store.close();
  expect(await repairStore(file)).toMatchObject({ saved: 2, lost: [] });
  expect(await checkStore(file)).toEqual([]);
  expect(await itemsIn(file)).toEqual({ b: "eel", c: "crab" });

  await change("UPDATE items SET updated = 1 WHERE key = 'b'");
  const repaired = await sqliteStore(file);
  await repaired.delete(ANN, "b");
  await repaired.close();
  expect(await checkStore(file)).toEqual([]);
});

it("a repair saves the items next to an unreadable page", async () => {
  const many = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`long-${n}`, `${n} `.repeat(1000)]));
  await fill(file, many);
  const whole = readFileSync(file);
  const at = Math.floor(whole.indexOf(many["long-20"]!.slice(0, 500)) / PAGE) * PAGE;
  writeFileSync(file, Buffer.from(whole).fill(0xff, at, at + PAGE));
  expect(await checkStore(file)).not.toEqual([]);
  await repairStore(file);
  expect(await checkStore(file)).toEqual([]);
  const saved = await itemsIn(file);
  expect(Object.keys(saved).length).toBeGreaterThan(20);
  expect({ ...many, ...saved }).toEqual({ ...many, a: "kelp", b: "eel", c: "crab" });
});

it("a file with items alone loses none by a repair of its first page", async () => {
  const own = join(folder, "items.db");
  await fill(own, { a: "kelp" });
  writeFileSync(own, readFileSync(own).fill(0, 0, PAGE));
  await repairStore(own);
  expect(await itemsIn(own)).toEqual({ a: "kelp" });
});

it("a backup has a snapshot of the items", async () => {
  const store = await sqliteStore(file);
  const copy = join(folder, "copy.db");
  await backupStore(file, copy);
  await store.put(ANN, "a", { text: "later" });
  await store.close();
  expect(await itemsIn(copy)).toEqual({ a: "kelp", b: "eel", c: "crab" });
});

it("a store in memory lasts as long as it is open", async () => {
  const [one, other] = [await sqliteStore(":memory:"), await sqliteStore(":memory:")];
  await one.put(ANN, "a", { n: 1 });
  expect([(await one.get(ANN, "a"))?.value, await other.get(ANN, "a")]).toEqual([{ n: 1 }, null]);
  await Promise.all([one.close(), other.close()]);
});

async function fill(path: string, texts: Record<string, string>): Promise<void> {
  const store = await sqliteStore(path);
  for (const [key, text] of Object.entries(texts)) await store.put(ANN, key, { text });
  await store.close();
}

async function itemsIn(path: string): Promise<Record<string, unknown>> {
  const store = await sqliteStore(path);
  const items = await store.search(ANN, { limit: 100 });
  await store.close();
  return Object.fromEntries(items.map(({ key, value }) => [key, value["text"]]));
}

async function change(sql: string): Promise<void> {
  const connection = await Connection.open(file);
  connection.exec(sql);
  connection.all("PRAGMA store.wal_checkpoint(TRUNCATE)");
  connection.close();
}
