import { InMemoryStore, type BaseStore } from "@langchain/langgraph";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newDatabase } from "../../../test/postgres.ts";
import { storeBackend } from "../../files/store.ts";
import { backendContract } from "../../testing/index.ts";
import { postgresStore } from "../postgres.ts";
import type { PostgresStore } from "./store.ts";

let store: PostgresStore;
beforeAll(async () => void (store = await postgresStore(await newDatabase())));
afterAll(() => store.close());

let made = 0;
backendContract("in Postgres", {
  createBackend: () => storeBackend(store, ["files", String((made += 1))]),
  describe,
  it,
  expect,
});

describe("items", () => {
  it("are put, changed, found and deleted as in LangGraph's store in memory", async () => {
    const memory = new InMemoryStore();
    expect(await used(store)).toEqual(await used(memory));
  });

  it("are there when the store is opened by another", async () => {
    const url = await newDatabase();
    const first = await postgresStore(url);
    await first.put(["notes"], "a", { text: "zero \0 and half \uD800" });
    const second = await postgresStore(url);
    expect((await second.get(["notes"], "a"))?.value).toEqual({ text: "zero \0 and half \uD800" });
    await Promise.all([first.close(), second.close()]);
  });

  it("keep the time they were made at when they are changed", async () => {
    await store.put(["times"], "a", { n: 1 });
    const first = (await store.get(["times"], "a"))!;
    await store.put(["times"], "a", { n: 2 });
    const second = (await store.get(["times"], "a"))!;
    expect(second.createdAt).toEqual(first.createdAt);
    expect(second.updatedAt.getTime()).toBeGreaterThanOrEqual(first.updatedAt.getTime());
  });

  it("with a name that cannot be stored are refused", async () => {
    await expect(store.put(["notes"], "\0", {})).rejects.toMatchObject({ code: "invalid-request" });
    await expect(store.put(["a\u001Fb"], "a", {})).rejects.toMatchObject({ code: "invalid-request" });
  });
});

/** What a store says after all kinds of operations. */
async function used(any: BaseStore): Promise<unknown> {
  for (const [namespace, key, n] of [
    [["users", "ann"], "a", 1],
    [["users", "ann", "deep"], "b", 2],
    [["users", "bob"], "c", 3],
    [["other"], "d", 4],
  ] as const) {
    await any.put([...namespace], key, { n, kind: n % 2 === 0 ? "even" : "odd" });
  }
  await any.put(["users", "bob"], "c", { n: 30, kind: "odd" });
  await any.put(["other"], "gone", { n: 5 });
  await any.delete(["other"], "gone");
  const keys = async (prefix: string[], options?: Parameters<BaseStore["search"]>[1]): Promise<string[]> =>
    (await any.search(prefix, options)).map(({ key }) => key).toSorted();
  const spaces = async (options: Parameters<BaseStore["listNamespaces"]>[0]): Promise<string[]> =>
    (await any.listNamespaces(options)).map((parts) => parts.join("/")).toSorted();
  return {
    found: (await any.get(["users", "bob"], "c"))?.value,
    missing: [await any.get(["users", "bob"], "x"), await any.get(["other"], "gone")],
    users: await keys(["users"]),
    ann: await keys(["users", "ann"]),
    odd: await keys(["users"], { filter: { kind: "odd" } }),
    large: await keys(["users"], { filter: { n: { $gt: 1, $lte: 30 } } }),
    chosen: await keys(["users"], { filter: { n: { $in: [1, 2] }, kind: { $ne: "odd" } } }),
    page: (await any.search(["users"], { limit: 2, offset: 2 })).length,
    namespaces: await spaces({ prefix: ["users"] }),
    ends: await spaces({ suffix: ["deep"] }),
    any: await spaces({ prefix: ["users", "*"], maxDepth: 2 }),
  };
}
