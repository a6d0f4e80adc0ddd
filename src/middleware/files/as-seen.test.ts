import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { InMemoryStore, MemorySaver } from "@langchain/langgraph";
import { afterAll, describe, expect, it } from "vitest";
import { bashSandbox } from "../../../test/bash-sandbox.ts";
import { createDeepAgent } from "../../deep/index.ts";
import type { DeepAgentOptions } from "../../deep/options.ts";
import {
  compositeBackend,
  diskBackend,
  sandboxBackend,
  stateFiles,
  storeBackend,
  type FileBackend,
} from "../../files/index.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-seen-"));
afterAll(() => rmSync(folder, { recursive: true }));
const root = (): string => mkdtempSync(join(folder, "root-"));

const go = { messages: [new HumanMessage("go")] };
const read = (file_path = "/a.md") => callTool("read_file", { file_path });
const write = (content: string, file_path = "/a.md") => callTool("write_file", { file_path, content });
const edit = (old_string: string, new_string: string, file_path = "/a.md") =>
  callTool("edit_file", { file_path, old_string, new_string });

async function run(
  steps: Step[],
  options: Pick<DeepAgentOptions, "backend" | "readFirst">,
): Promise<string[]> {
  const agent = createDeepAgent({ model: new ScriptedModel(steps), plan: false, ...options });
  return replies((await agent.invoke(go)).messages);
}
function replies(messages: readonly BaseMessage[]): string[] {
  return messages.flatMap((message) => (ToolMessage.isInstance(message) ? message.text : []));
}
const UNREAD = 'Error: "/a.md" was not changed: you have not read it. Read it first.';

const BACKENDS: Record<string, () => FileBackend> = {
  "on disk": () => diskBackend(root()),
  "in a store": () => storeBackend(new InMemoryStore(), ["files"]),
  "in a remote sandbox": () => sandboxBackend(bashSandbox(), { root: root() }),
  "of several": () => compositeBackend(stateFiles({}), { "/b/": diskBackend(root()) }),
};

describe.each(Object.entries(BACKENDS))("a file %s", (_, create) => {
  it("is changed only as the model has seen it, and the refusal says what is new", async () => {
    const backend = create();
    await backend.write("/a.md", "one\ntwo\nthree\n");
    const byOthers = async (): Promise<Step> => {
      await backend.edit("/a.md", { oldString: "two", newString: "2" });
      return edit("three", "3");
    };
    const told = await run(
      [
        write("mine"),
        edit("two", "2"),
        read(),
        byOthers,
        edit("three", "3"),
        write("mine"),
        edit("mine", "yours"),
        "ok",
      ],
      { backend },
    );
    expect(told.slice(0, 2)).toEqual([UNREAD, UNREAD]);
    expect(told[3]).toBe(
      'Error: "/a.md" was not changed: it is no longer as you saw it. Call again if your change still fits. What has changed:\n@@ line 1\n one\n-two\n+2\n three',
    );
    expect(told.slice(4)).toEqual(["Edited /a.md at line 3.", "Replaced /a.md.", "Edited /a.md at line 1."]);
    expect(await backend.read("/a.md")).toEqual({ ok: true, content: "yours" });
  });

  it("may be changed several times in a turn, by calls that have seen it", async () => {
    const backend = create();
    await backend.write("/a.md", "one\ntwo\n");
    const turn = [edit("one", "1"), edit("two", "2"), write("x", "/new.md"), edit("x", "y", "/new.md")];
    const told = await run([read(), turn, "ok"], { backend });
    expect(told.slice(1)).toEqual([
      "Edited /a.md at line 1.",
      "Edited /a.md at line 2.",
      "Created /new.md.",
      "Edited /new.md at line 1.",
    ]);
    expect(await backend.read("/a.md")).toEqual({ ok: true, content: "1\n2\n" });
  });
});

describe("a file in the state", () => {
  it("is held to it too, with its calls of one turn in their order", async () => {
    const model = new ScriptedModel([
      [write("blind"), edit("old", "new")],
      read(),
      [edit("old", "new"), edit("new", "newer"), write("last"), write("b", "/b.md"), edit("b", "c", "/b.md")],
      "ok",
    ]);
    const agent = createDeepAgent({ model, plan: false });
    const { messages, files } = await agent.invoke({ ...go, files: { "/a.md": "old" } });
    expect(replies(messages)).toEqual([
      UNREAD,
      UNREAD,
      "     1\told",
      "Edited /a.md at line 1.",
      "Edited /a.md at line 1.",
      "Replaced /a.md.",
      "Created /b.md.",
      "Edited /b.md at line 1.",
    ]);
    expect(files).toEqual({ "/a.md": "last", "/b.md": "c" });
  });

  it("is seen anew by each sub-agent, and what one has changed by its parent", async () => {
    const task = callTool("task", { description: "job", subagent_type: "general-purpose" });
    const helper: Step[] = [edit("old", "x"), read(), edit("old", "x"), "done"];
    const model = new ScriptedModel([read(), task, ...helper, edit("old", "mine"), edit("x", "y"), "ok"]);
    const { messages, files } = await createDeepAgent({ model, plan: false }).invoke({
      ...go,
      files: { "/a.md": "old" },
    });
    expect(replies(model.requests[5]!.messages)).toEqual([UNREAD, "     1\told", "Edited /a.md at line 1."]);
    expect(replies(messages)[2]).toContain("-old\n");
    expect(replies(messages)[3]).toBe("Edited /a.md at line 1.");
    expect(files).toEqual({ "/a.md": "y" });
  });
});

describe("what was seen", () => {
  it("is kept in the thread in a few bytes, and a change that is long is not told", async () => {
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
    const later = replies(
      (await agentOf([edit("other", "x"), read(), write("x"), "ok"]).invoke(go, config)).messages,
    );
    expect(later[1]).toBe('Error: "/a.md" was not changed: it is no longer as you saw it. Read it again.');
    expect(later[3]).toBe("Replaced /a.md.");
  });

  it("does not keep a call from being made again that has had its effect", async () => {
    const place = root();
    writeFileSync(join(place, "a.md"), "new");
    expect(await run([write("new"), "ok"], { backend: diskBackend(place) })).toEqual(["Replaced /a.md."]);
  });

  it("is not what a call failed to show, and does not let a file be replaced that cannot be read", async () => {
    const place = root();
    writeFileSync(join(place, "a.md"), "one\n");
    writeFileSync(join(place, "large.md"), "x".repeat(100));
    const backend = diskBackend(place, { maxBytes: 50 });
    const past = callTool("read_file", { file_path: "/a.md", offset: 9 });
    const told = await run([past, write("x"), write("x", "/large.md"), "ok"], { backend });
    expect(told[1]).toBe(UNREAD);
    expect(told[2]).toContain("What cannot be read is not replaced: delete it first.");
    expect(readFileSync(join(place, "large.md"), "utf8")).toHaveLength(100);
  });

  it("holds for a backend that is an instance of a class", async () => {
    // Like those of a class, its methods are not its own.
    const backend = Object.create(stateFiles({ "/a.md": "old" })) as FileBackend;
    const gone = callTool("delete_file", { file_path: "/a.md" });
    expect(await run([write("x"), read(), write("x"), gone, "ok"], { backend })).toEqual([
      UNREAD,
      "     1\told",
      "Replaced /a.md.",
      "Deleted /a.md.",
    ]);
  });

  it("does not matter with readFirst: false", async () => {
    const place = root();
    writeFileSync(join(place, "a.md"), "old");
    const told = await run([write("new"), "ok"], { backend: diskBackend(place), readFirst: false });
    expect(told).toEqual(["Replaced /a.md."]);
  });
});
