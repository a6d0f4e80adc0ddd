import { InMemoryStore } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { storeBackend } from "./store.ts";

describe("a store backend", () => {
  it("keeps files across backends, one item each", async () => {
    const store = new InMemoryStore();
    await storeBackend(store, ["user", "1"]).write("notes/a.md", "x");
    expect(await storeBackend(store, ["user", "1"]).read("/notes/a.md")).toEqual({ ok: true, content: "x" });
    expect((await store.get(["user", "1"], "/notes/a.md"))?.value).toEqual({ content: "x" });
  });

  it("does not see the files of other namespaces, also when their names begin the same", async () => {
    const store = new InMemoryStore();
    await storeBackend(store, ["user", "12"]).write("/other.md", "x");
    await storeBackend(store, ["user", "1", "deep"]).write("/deep.md", "x");
    expect(await storeBackend(store, ["user", "1"]).glob("**")).toEqual({ ok: true, paths: [] });
  });

  it("finds more files than a store gives at a time", async () => {
    const backend = storeBackend(new InMemoryStore(), ["many"]);
    for (let n = 0; n < 205; n += 1) await backend.write(`/${n}.md`, "x");
    const found = await backend.glob("*.md");
    expect(found.ok && found.paths.length).toBe(205);
  });

  it("skips items that are not files", async () => {
    const store = new InMemoryStore();
    await store.put(["n"], "prefs", { theme: "dark" });
    await store.put(["n"], "/a.md", { text: "x" });
    const backend = storeBackend(store, ["n"]);
    expect(await backend.list("/")).toEqual({ ok: true, entries: [] });
    expect(await backend.read("/a.md")).toMatchObject({ ok: false, reason: "missing" });
  });

  it("applies edits that several backends on one store make at once", async () => {
    const store = new InMemoryStore();
    const letters = "abcdefghij".split("");
    await storeBackend(store, ["n"]).write("/list", letters.join("\n"));
    const edits = letters.map((letter) =>
      storeBackend(store, ["n"]).edit("/list", { oldString: letter, newString: letter.toUpperCase() }),
    );
    await Promise.all(edits);
    expect(await storeBackend(store, ["n"]).read("/list")).toMatchObject({
      content: letters.join("\n").toUpperCase(),
    });
  });
});
