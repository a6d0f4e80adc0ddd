import { HumanMessage } from "@langchain/core/messages";
import { getStore, InMemoryStore, type BaseStore } from "@langchain/langgraph";
import { tool } from "langchain";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { say, textsOf } from "../../../test/helpers/postgres/stored-threads.ts";
import { STORES, type StorePlace } from "../../../test/helpers/postgres/stores.ts";
import { isRelease } from "../../../test/helpers/runner/rounds.ts";
import { run } from "../../../test/helpers/terminal/run-program.ts";
import { createDeepAgent } from "../../deep/index.ts";
import { storeBackend } from "../../files/backends/store.ts";
import { backendContract, callTool, ScriptedModel } from "../../testing/index.ts";
import type { ItemStore } from "./item-store.ts";

describe.each(STORES)("in $name,", ({ name: storeName, create }) => {
  let place: StorePlace;
  let store: ItemStore;
  beforeAll(async () => {
    place = await create();
    store = await place.openItems();
  });
  afterAll(async () => {
    await store.close();
    place.remove();
  });

  let made = 0;
  backendContract("files in the store", {
    createBackend: () => storeBackend(store, ["files", String((made += 1))]),
    describe,
    it,
    expect,
  });

  it("items are put, changed, found and deleted as in LangGraph's store in memory", async () => {
    expect(await used(store)).toEqual(await used(new InMemoryStore()));
  });

  it("items are found by another store on the same database", async () => {
    await store.put(["kept"], "a", { text: "zero \0 and half \uD800" });
    const other = await place.openItems();
    expect((await other.get(["kept"], "a"))?.value).toEqual({ text: "zero \0 and half \uD800" });
    await other.close();
    await expect(other.get(["kept"], "a")).rejects.toThrow("was closed");
  });

  it("items and threads are kept in one place, open at the same time", async () => {
    const saver = await place.open();
    await say(saver, "t", "first");
    await Promise.all([store.put(["beside"], "a", { n: 1 }), say(saver, "t", "second")]);
    expect((await store.get(["beside"], "a"))?.value).toEqual({ n: 1 });
    expect(await textsOf(saver, "t")).toEqual(["first", "answer to first", "second", "answer to second"]);
    await saver.deleteThread("t");
    await saver.close();
    expect(await store.search(["beside"])).toHaveLength(1);
  });

  it.runIf(isRelease || storeName === "SQLite")(
    "several processes put items at once, and none is lost",
    async () => {
      const program = (name: string) => `
      import { postgresStore, sqliteStore } from "holdfast/storage";
      const store = await ${place.openingItems};
      for (let n = 0; n < 50; n++) {
        await store.put(["busy", "${name}"], String(n), { n });
        await store.put(["busy"], "same", { by: "${name}", n });
      }
      await store.close();`;
      const names = ["a", "b", "c"];
      const ended = await Promise.all(
        names.map((name) => run(process.execPath, ["--input-type=module", "-e", program(name)])),
      );
      expect(ended.map(({ ok, stderr }) => [ok, stderr])).toEqual(names.map(() => [true, ""]));
      for (const name of names) {
        const items = await store.search(["busy", name], { limit: 100 });
        expect(items.map(({ value }) => value["n"])).toEqual(Array.from({ length: 50 }, (_, n) => n));
      }
      expect((await store.get(["busy"], "same"))?.value["n"]).toBe(49);
    },
  );

  it("a changed item keeps its creation time and its place on a page", async () => {
    for (const key of ["b", "a"]) await store.put(["times"], key, { n: 1 });
    const first = (await store.get(["times"], "b"))!;
    await store.put(["times"], "b", { n: 2 });
    const second = (await store.get(["times"], "b"))!;
    expect(second.createdAt).toEqual(first.createdAt);
    expect(second.updatedAt.getTime()).toBeGreaterThanOrEqual(first.updatedAt.getTime());
    const pages = [await store.search(["times"], { limit: 1 }), await store.search(["times"], { offset: 1 })];
    expect(pages.flat().map(({ key }) => key)).toHaveLength(2);
    expect(new Set(pages.flat().map(({ key }) => key)).size).toBe(2);
  });

  it("a namespace does not contain one whose name begins the same", async () => {
    for (const user of ["ann", "anna", "ann\u0020e"]) await store.put(["people", user], "a", {});
    const found = await store.search(["people", "ann"]);
    expect(found.map(({ namespace }) => namespace)).toEqual([["people", "ann"]]);
  });

  it("a value that cannot be stored is refused", async () => {
    const refused = { code: "invalid-request" };
    await expect(store.put(["notes"], "\0", {})).rejects.toMatchObject(refused);
    await expect(store.get(["notes"], "\uD800")).rejects.toMatchObject(refused);
    await expect(store.put(["a\u001Fb"], "a", {})).rejects.toMatchObject(refused);
    await expect(store.search(["\0"])).rejects.toMatchObject(refused);
    const nothing = undefined as unknown as Record<string, unknown>;
    await expect(store.put(["notes"], "a", nothing)).rejects.toMatchObject(refused);
  });

  it("an agent's tools use it, as the store of its graph", async () => {
    const remember = tool(
      async ({ text }) => {
        await getStore()!.put(["memories"], "latest", { text });
        return "kept";
      },
      { name: "remember", description: "keeps a text", schema: z.object({ text: z.string() }) },
    );
    const model = new ScriptedModel([callTool("remember", { text: "kelp" }), "Done."]);
    const agent = createDeepAgent({ model, tools: [remember], store });
    await agent.invoke({ messages: [new HumanMessage("Remember kelp")] });
    expect((await store.get(["memories"], "latest"))?.value).toEqual({ text: "kelp" });
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
    anything: await keys(["users"], { filter: { n: {} } }),
    noOperator: await keys(["users"], { filter: { n: { $gt: 1, more: 2 } } }),
    unknownOperator: await keys(["users"], { filter: { n: { $near: 1 } } }),
    filteredPage: await keys(["users"], { filter: { kind: "odd" }, limit: 1, offset: 1 }),
    page: (await any.search(["users"], { limit: 2, offset: 2 })).length,
    none: await keys(["users"], { limit: 0 }),
    namespaces: await spaces({ prefix: ["users"] }),
    ends: await spaces({ suffix: ["deep"] }),
    any: await spaces({ prefix: ["users", "*"], maxDepth: 2 }),
    namespacePage: await any.listNamespaces({ prefix: ["users"], limit: 1, offset: 1 }),
    batch: await any.batch([
      { namespace: ["users", "bob"], key: "x" },
      { limit: 10, offset: 0, matchConditions: [{ matchType: "prefix", path: ["other"] }] },
    ]),
  };
}
