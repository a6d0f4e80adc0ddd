import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AIMessage, HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { InMemoryStore, MemorySaver } from "@langchain/langgraph";
import { tool } from "langchain";
import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { bashSandbox } from "../../../../test/helpers/models/bash-sandbox.ts";
import { createDeepAgent } from "../../../deep/index.ts";
import type { DeepAgentOptions } from "../../../deep/options.ts";
import { stateFiles } from "../../../files/backends/state.ts";
import {
  compositeBackend,
  diskBackend,
  sandboxBackend,
  storeBackend,
  type FileBackend,
} from "../../../files/index.ts";
import { callTool, ScriptedModel, type Step } from "../../../testing/index.ts";
import { hashOf, seenText } from "./sightings.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-seen-"));
afterAll(() => rmSync(folder, { recursive: true }));
const root = (): string => mkdtempSync(join(folder, "root-"));

const go = { messages: [new HumanMessage("go")] };
const read = (file_path = "/a.md") => callTool("read_file", { file_path });
const linesOf = (length: number): string => Array.from({ length }, (_line, at) => `line ${at}`).join("\n");
const write = (content: string, file_path = "/a.md") => callTool("write_file", { file_path, content });
const edit = (old_string: string, new_string: string, file_path = "/a.md") =>
  callTool("edit_file", { file_path, old_string, new_string });

async function run(
  steps: Step[],
  options: Pick<DeepAgentOptions, "backend" | "readFirst" | "canExecute">,
): Promise<string[]> {
  const agent = createDeepAgent({ model: new ScriptedModel(steps), plan: false, ...options });
  return replies((await agent.invoke(go)).messages);
}
function replies(messages: readonly BaseMessage[]): string[] {
  return messages.flatMap((message) => (ToolMessage.isInstance(message) ? message.text : []));
}
const confirm = (file_path = "/a.md") => callTool("write_file", { file_path, confirm: true });
const HELD = (shown: string, path = "/a.md"): string =>
  `Error: "${path}" was not written: it has text that you have not seen. ${shown}\nTo write yours over it, call write_file with file_path and confirm: true, without content.`;
const lines = (...all: string[]): string =>
  all.map((line, at) => `${String(at + 1).padStart(6)}\t${line}`).join("\n");

const BACKENDS: Record<string, () => FileBackend> = {
  "on disk": () => diskBackend(root()),
  "in a store": () => storeBackend(new InMemoryStore(), ["files"]),
  "in a remote sandbox": () => sandboxBackend(bashSandbox(), { root: root() }),
  "of several": () => compositeBackend(stateFiles({}), { "/b/": diskBackend(root()) }),
};

describe.each(Object.entries(BACKENDS))("a file %s", (_, create) => {
  /** A step before which somebody else changes the file. */
  const afterChange =
    (backend: FileBackend, [from, to]: [string, string], step: Step) =>
    async (): Promise<Step> => {
      await backend.edit("/a.md", { oldString: from, newString: to });
      return step;
    };

  it("is edited when the text matches, read or not, and the result shows nearby lines", async () => {
    const backend = create();
    await backend.write("/a.md", "one\ntwo\nthree\nfour\nfive\nsix\n");
    const told = await run([edit("three", "3"), "ok"], { backend });
    expect(told).toEqual([`Edited /a.md:\n${lines("one", "two", "3", "four", "five")}`]);
  });

  it("is edited after another writer changed it, and the model reads the changes", async () => {
    const backend = create();
    await backend.write("/a.md", "one\ntwo\nthree\n");
    const told = await run([read(), afterChange(backend, ["two", "2"], edit("three", "3")), "ok"], {
      backend,
    });
    expect(told[1]).toBe(
      `Edited /a.md:\n${lines("one", "2", "3")}\nIt has changed since you saw it:\n@@ line 1\n one\n-two\n+2\n three`,
    );
    expect(await backend.read("/a.md")).toEqual({ ok: true, content: "one\n2\n3\n" });
  });

  it("is edited in several places at once, or in none", async () => {
    const backend = create();
    await backend.write("/a.md", "one\ntwo\nthree\n");
    const edits = (...pairs: [string, string][]) =>
      callTool("edit_file", {
        file_path: "/a.md",
        edits: pairs.map(([old_string, new_string]) => ({ old_string, new_string })),
      });
    const told = await run(
      [edits(["one", "1"], ["four", "4"]), edits(["one", "1"], ["1\ntwo", "1\n2"]), "ok"],
      {
        backend,
      },
    );
    expect(told[0]).toContain('"/a.md" was not changed. Edit 2 of 2: The text to replace was not found');
    expect(told[0]).toContain(`It has:\n${lines("one", "two", "three")}`);
    expect(told[1]).toBe(`Edited /a.md:\n${lines("1", "2", "three")}`);
    expect(await backend.read("/a.md")).toEqual({ ok: true, content: "1\n2\nthree\n" });
  });

  it("is replaced when the agent has read it or a result contains all of it", async () => {
    const backend = create();
    await backend.write("/a.md", "one\n");
    await backend.write("/b.md", "// see SPEC.md\n");
    const model = new ScriptedModel([read(), write("1\n"), callTool("cat", {}), write("2\n", "/b.md"), "ok"]);
    const cat = tool(async () => "==> b.md <==\n// see SPEC.md\n==> c.md <==\n", {
      name: "cat",
      description: "c",
      schema: z.object({}),
    });
    const agent = createDeepAgent({ model, plan: false, backend, tools: [cat] });
    const told = replies((await agent.invoke(go)).messages);
    expect([told[1], told[3]]).toEqual(["Replaced /a.md.", "Replaced /b.md."]);
  });

  it("is not replaced when a page, an edit or a refusal showed only a part of it", async () => {
    const long = linesOf(300);
    const shown: Step[] = [
      callTool("read_file", { file_path: "/a.md", limit: 1 }),
      edit("line 7\n", "line seven\n"),
      write("first try"),
    ];
    for (const step of shown) {
      const backend = { ...create(), isUnchanged: async () => false };
      await backend.write("/a.md", long);
      const agent = createDeepAgent({
        model: new ScriptedModel([step, write("second try"), "ok"]),
        plan: false,
        backend,
      });
      const told = replies((await agent.invoke(go)).messages);
      expect(told[1]).toContain("was not written");
    }
  });

  it("is seen whole after all of its pages were read", async () => {
    const backend = { ...create(), isUnchanged: async () => false };
    await backend.write("/a.md", linesOf(30));
    const page = (offset: number) => callTool("read_file", { file_path: "/a.md", offset, limit: 15 });
    const model = new ScriptedModel([page(0), page(15), write("new"), "ok"]);
    const agent = createDeepAgent({ model, plan: false, backend });
    expect(replies((await agent.invoke(go)).messages)[2]).toBe("Replaced /a.md.");
  });

  it("is not replaced when another writer changed it after the agent read it", async () => {
    const backend = { ...create(), isUnchanged: async () => true };
    await backend.write("/a.md", "one\n");
    const commit: Step = async () => {
      await backend.write("/a.md", "one\nby a colleague, committed\n");
      return write("mine");
    };
    const agent = createDeepAgent({ model: new ScriptedModel([read(), commit, "ok"]), plan: false, backend });
    expect(replies((await agent.invoke(go)).messages)[1]).toContain("by a colleague, committed");
  });

  it("does not receive withheld text after a later change", async () => {
    const backend = { ...create(), isUnchanged: async () => false };
    await backend.write("/a.md", "one\ntwo\n");
    const model = new ScriptedModel([write("held"), edit("two", "2"), confirm(), "ok"]);
    const agent = createDeepAgent({ model, plan: false, backend });
    await agent.invoke(go);
    expect(await backend.read("/a.md")).toMatchObject({ content: "one\n2\n" });
  });

  it("is not replaced when text would be lost, until the model confirms the write", async () => {
    const backend = create();
    await backend.write("/a.md", "one\ntwo\n");
    const plain = { ...backend, isUnchanged: async () => false };
    const mine = "mine ".repeat(100);
    const model = new ScriptedModel([write(mine), confirm(), "ok"]);
    const agent = createDeepAgent({ model, plan: false, backend: plain, checkpointer: new MemorySaver() });
    const { messages } = await agent.invoke(go, { configurable: { thread_id: "t" } });
    expect(replies(messages)).toEqual([HELD(`It has:\n${lines("one", "two")}`), "Replaced /a.md."]);
    expect(await backend.read("/a.md")).toEqual({ ok: true, content: mine });
    const sent = (at: number): string => JSON.stringify(model.requests[at]!.messages);
    expect(sent(1)).not.toContain(mine);
    expect(sent(1)).toContain("[500 characters, refused]");
    // The call that wrote it has the text, for the model and for people.
    expect(sent(2).split(mine)).toHaveLength(2);
  });

  it("is protected again when it changes again before the confirmation", async () => {
    const backend = create();
    await backend.write("/a.md", "one\n");
    const plain = { ...backend, isUnchanged: async () => false };
    const told = await run(
      [write("mine"), afterChange(backend, ["one", "two"], confirm()), confirm(), "ok"],
      {
        backend: plain,
      },
    );
    expect(told[1]).toContain("-one\n+two");
    expect(told[2]).toBe("Replaced /a.md.");
  });

  it("may be changed several times in a turn, by calls that have seen it", async () => {
    const backend = create();
    await backend.write("/a.md", "one\ntwo\n");
    const turn = [edit("one", "1"), edit("two", "2"), write("x", "/new.md"), edit("x", "y", "/new.md")];
    const told = await run([read(), turn, "ok"], { backend });
    expect(told.slice(1)).toEqual([
      `Edited /a.md:\n${lines("1", "two")}`,
      `Edited /a.md:\n${lines("1", "2")}`,
      "Created /new.md.",
      `Edited /new.md:\n${lines("y")}`,
    ]);
    expect(await backend.read("/a.md")).toEqual({ ok: true, content: "1\n2\n" });
  });
});

describe("a file in the state", () => {
  it("is held to it too, with its calls of one turn in their order", async () => {
    const model = new ScriptedModel([
      [write("blind"), edit("old", "new")],
      [edit("new", "newer"), write("last"), write("b", "/b.md"), edit("b", "c", "/b.md")],
      "ok",
    ]);
    const agent = createDeepAgent({ model, plan: false });
    const { messages, files } = await agent.invoke({ ...go, files: { "/a.md": "old" } });
    expect(replies(messages)).toEqual([
      HELD(`It has:\n${lines("old")}`),
      `Edited /a.md:\n${lines("new")}`,
      `Edited /a.md:\n${lines("newer")}`,
      "Replaced /a.md.",
      "Created /b.md.",
      `Edited /b.md:\n${lines("c")}`,
    ]);
    expect(files).toEqual({ "/a.md": "last", "/b.md": "c" });
  });

  it("is read separately by each sub-agent, and the parent knows a sub-agent's changes", async () => {
    const task = callTool("task", { description: "job", subagent_type: "general-purpose" });
    const helper: Step[] = [write("x"), read(), edit("old", "x"), "done"];
    const model = new ScriptedModel([read(), task, ...helper, edit("old", "mine"), edit("x", "y"), "ok"]);
    const { messages, files } = await createDeepAgent({ model, plan: false }).invoke({
      ...go,
      files: { "/a.md": "old" },
    });
    expect(replies(model.requests[5]!.messages)).toEqual([
      HELD(`It has:\n${lines("old")}`),
      lines("old"),
      `Edited /a.md:\n${lines("x")}`,
    ]);
    expect(replies(messages)[2]).toContain("-old\n");
    expect(replies(messages)[3]).toBe(`Edited /a.md:\n${lines("y")}`);
    expect(files).toEqual({ "/a.md": "y" });
  });
});

describe("a file on disk that the agent has not read", () => {
  it("is replaced where it is as it was when the thread began, also in a later process", async () => {
    const place = root();
    for (const name of ["a.md", "b.md", "c.md"]) writeFileSync(join(place, name), "one\n");
    // A file that was changed in the same millisecond may have been changed after it.
    while (Date.now() <= statSync(join(place, "c.md")).ctimeMs) await new Promise(setImmediate);
    const checkpointer = new MemorySaver();
    const config = { configurable: { thread_id: "t" } };
    const agentOf = (steps: Step[]) =>
      createDeepAgent({
        model: new ScriptedModel(steps),
        backend: diskBackend(place),
        plan: false,
        checkpointer,
      });
    const begin = { messages: [new HumanMessage("go")] };
    const first = await agentOf([write("mine"), "ok"]).invoke(begin, config);
    expect(replies(first.messages)).toEqual(["Replaced /a.md."]);
    writeFileSync(join(place, "b.md"), "theirs\n");
    const again = { messages: [new HumanMessage("again")] };
    const later = await agentOf([[write("mine", "/b.md"), write("mine", "/c.md")], "ok"]).invoke(
      again,
      config,
    );
    expect(replies(later.messages).slice(1)).toEqual([
      HELD(`It has:\n${lines("theirs")}`, "/b.md"),
      "Replaced /c.md.",
    ]);
  });

  it("is replaced where the last commit has it", async () => {
    const place = root();
    const git = (...words: string[]): void =>
      void execFileSync("git", ["-c", "user.name=n", "-c", "user.email=e", ...words], { cwd: place });
    writeFileSync(join(place, "a.md"), "one\n");
    writeFileSync(join(place, "b.md"), "one\n");
    git("init", "-q");
    git("add", ".");
    git("commit", "-qm", "one");
    const change = (): Step => {
      writeFileSync(join(place, "a.md"), "one\n");
      writeFileSync(join(place, "b.md"), "one\ntwo\n");
      return [write("x"), write("x", "/b.md")];
    };
    const told = await run([callTool("ls", {}), change, "ok"], { backend: diskBackend(place) });
    expect(told.slice(1)).toEqual(["Replaced /a.md.", HELD(`It has:\n${lines("one", "two")}`, "/b.md")]);
  });

  it("is shown as a diff when it is long", async () => {
    const place = root();
    const text = (word: string): string => ["first", ...Array(60).fill("same"), word, ""].join("\n");
    const writeLate = (): Step => {
      writeFileSync(join(place, "a.md"), text("theirs"));
      return write(text("mine"));
    };
    const told = await run([callTool("ls", {}), writeLate, "ok"], { backend: diskBackend(place) });
    expect(told[1]).toBe(HELD("Yours would change:\n@@ line 61\n same\n-theirs\n+mine"));
  });
});

describe("the record of the files that the agent has read", () => {
  it("takes a few bytes in the thread, and a later process can tell what has changed", async () => {
    const place = root();
    writeFileSync(join(place, "a.md"), "one\n".repeat(200));
    const checkpointer = new MemorySaver();
    const config = { configurable: { thread_id: "t" } };
    const agentOf = (steps: Step[]) =>
      createDeepAgent({
        model: new ScriptedModel(steps),
        backend: diskBackend(place),
        plan: false,
        checkpointer,
      });
    const { messages } = await agentOf([read(), "ok"]).invoke(go, config);
    const artifact = messages.find((message) => ToolMessage.isInstance(message))!.artifact as object;
    expect(JSON.stringify(artifact).length).toBeLessThan(60);
    writeFileSync(join(place, "a.md"), "other\n".repeat(200));
    const again = { messages: [new HumanMessage("again")] };
    const later = replies((await agentOf([write("x"), confirm(), "ok"]).invoke(again, config)).messages);
    expect(later[1]).toContain("It has changed since you saw it.");
    expect(later[2]).toBe("Replaced /a.md.");
  });

  it("is rebuilt from the reads, writes and edits in the conversation", () => {
    const result = (name: string, text: string, after: string, id: string) =>
      new ToolMessage({
        content: text,
        name,
        tool_call_id: id,
        artifact: { seen: { path: "/a.md", hash: hashOf(Buffer.from(after)) } },
      });
    const ask = (name: string, args: object, id: string) =>
      new AIMessage({ content: "", tool_calls: [{ name, args: args as never, id, type: "tool_call" }] });
    const messages = [
      ask("read_file", { file_path: "/a.md" }, "1"),
      result("read_file", lines("one", "two"), "one\ntwo\n", "1"),
      ask("edit_file", { file_path: "/a.md", old_string: "two", new_string: "2" }, "2"),
      result("edit_file", "Edited", "one\n2\n", "2"),
    ];
    const hash = hashOf(Buffer.from("one\n2\n"));
    expect(seenText(messages, { path: "/a.md", hash })).toBe("one\n2\n");
    expect(seenText(messages.slice(2), { path: "/a.md", hash })).toBeUndefined();
    const written = [
      ask("write_file", { file_path: "/a.md", content: "x" }, "3"),
      result("write_file", "", "x", "3"),
    ];
    expect(seenText(written, { path: "/a.md", hash: hashOf(Buffer.from("x")) })).toBe("x");
  });

  it("does not keep a call from being made again that has had its effect", async () => {
    const place = root();
    writeFileSync(join(place, "a.md"), "new");
    expect(await run([write("new"), "ok"], { backend: diskBackend(place) })).toEqual(["Replaced /a.md."]);
  });

  it("leaves out what a call failed to show, and protects an unreadable file", async () => {
    const place = root();
    writeFileSync(join(place, "large.md"), "x".repeat(100));
    const backend = diskBackend(place, { maxBytes: 50 });
    const late = (): Step => {
      writeFileSync(join(place, "a.md"), "one\n");
      return callTool("read_file", { file_path: "/a.md", offset: 9 });
    };
    const told = await run([callTool("ls", {}), late, write("x"), write("x", "/large.md"), "ok"], {
      backend,
    });
    expect(told[2]).toBe(HELD(`It has:\n${lines("one")}`));
    expect(told[3]).toContain("What cannot be read is not replaced: delete it first.");
    expect(readFileSync(join(place, "large.md"), "utf8")).toHaveLength(100);
  });

  it("works with a backend that is an instance of a class", async () => {
    // Like those of a class, its methods are not its own.
    const backend = Object.create(stateFiles({ "/a.md": "old" })) as FileBackend;
    const gone = callTool("delete_file", { file_path: "/a.md" });
    expect(await run([write("x"), confirm(), gone, "ok"], { backend })).toEqual([
      HELD(`It has:\n${lines("old")}`),
      "Replaced /a.md.",
      "Deleted /a.md.",
    ]);
  });

  it("does not matter with readFirst: false", async () => {
    const place = root();
    const late = (): Step => {
      writeFileSync(join(place, "a.md"), "old");
      return write("new");
    };
    const told = await run([callTool("ls", {}), late, "ok"], {
      backend: diskBackend(place),
      readFirst: false,
    });
    expect(told[1]).toBe("Replaced /a.md.");
  });
});

it("a write is only confirmed where one was held back, and needs its text otherwise", async () => {
  expect(await run([confirm(), callTool("write_file", { file_path: "/a.md" }), "ok"], {})).toEqual([
    'Error: no text for "/a.md" was held back: send content.',
    "Error: content is missing; you sent file_path. Nothing was done.",
  ]);
});
