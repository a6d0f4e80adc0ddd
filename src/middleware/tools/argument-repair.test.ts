import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { Command, MemorySaver } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../../deep/index.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import { FILE_ARGUMENTS } from "../files/schemas.ts";
import { problemsOf, repairArguments } from "./argument-repair.ts";

async function told(steps: Step[], files: Record<string, string> = {}): Promise<string[]> {
  const agent = createDeepAgent({ model: new ScriptedModel([...steps, "ok"]), plan: false });
  const { messages } = await agent.invoke({ messages: [new HumanMessage("go")], files });
  return messages.flatMap((message) => (ToolMessage.isInstance(message) ? message.text : []));
}

describe("arguments of work tools", () => {
  it("are read under other names and in other types, and the result says so", async () => {
    const calls = [
      callTool("write_file", { path: "/a.md", text: "one\ntwo\n" }),
      callTool("read_file", { filePath: "/a.md", limit: "1" }),
      callTool("edit_file", {
        file: "/a.md",
        edits: { old: "one", new: 1, replace_all: "true" },
      }),
      callTool("ls", { directory: "/", sizes: "yes" }),
    ];
    expect(await told(calls)).toEqual([
      "[path was read as file_path. text was read as content.]\nCreated /a.md.",
      "[filePath was read as file_path.]\n     1\tone\n[Lines 1-1 of 2. To read on, use offset 1.]",
      expect.stringMatching(
        /^\[file was read as file_path\. edits was read as a list\. old was read as old_string\. new was read as new_string\. .*\]\nEdited \/a\.md:/,
      ),
      "[directory was read as path. sizes was read as true.]\n/a.md\t6",
    ]);
  });

  it("may be unlisted: results name them when useful, and any long line can be read", async () => {
    const files = { "/long.json": `${"x".repeat(90_000)}end` };
    const column = Number(
      /, column (\d+)\]$/.exec(
        (await told([callTool("read_file", { file_path: "/long.json", limit: 1 })], files))[0]!,
      )![1],
    );
    const rest = callTool("read_file", { file_path: "/long.json", limit: 1, column });
    expect(await told([rest], files)).toEqual(["     1\t[from column 90000] end"]);
    const model = new ScriptedModel(["ok"]);
    await createDeepAgent({ model, plan: false }).invoke({ messages: [new HumanMessage("go")] });
    expect(JSON.stringify(model.requests[0]!.tools)).not.toContain("column");
  });

  it("may be null where they are optional, also in the objects of a list", async () => {
    const edits = [{ old_string: "one", new_string: "1", replace_all: null }];
    const calls = [
      callTool("edit_file", { file_path: "/a.md", old_string: null, new_string: null, edits }),
      callTool("edit_file", { file_path: "/a.md", edits: [{ old_string: "1", new_string: null }] }),
    ];
    const [edited, lacking] = await told(calls, { "/a.md": "one\n" });
    expect(edited).toMatch(/^Edited \/a\.md:/);
    expect(lacking).toMatch(/^Error: edits\.0\.new_string: .*Nothing was done\.$/);
  });

  it("are named in the error when missing, along with the sent arguments", async () => {
    expect(await told([callTool("read_file", { where: "/a.md" })])).toEqual([
      "Error: file_path is missing; you sent where. Nothing was done.",
    ]);
    expect(await told([callTool("write_file", {})])).toEqual([
      "Error: file_path is missing; you sent nothing. Nothing was done.",
    ]);
    expect(await told([callTool("edit_file", { file_path: "/a.md", patch: "x" })])).toEqual([
      "Error: old_string or edits is missing; you sent file_path, patch. Nothing was done.",
    ]);
  });

  it("are repaired before rules and the user read them", async () => {
    const agent = createDeepAgent({
      model: new ScriptedModel([callTool("write_file", { path: "/a.md", content: "x" }, "w"), "ok"]),
      plan: false,
      checkpointer: new MemorySaver(),
      interruptOn: { write_file: true },
    });
    const config = { configurable: { thread_id: "t" } };
    const asked = (await agent.invoke({ messages: [new HumanMessage("go")] }, config)) as {
      __interrupt__?: { value: { args: object } }[];
    };
    expect(asked.__interrupt__![0]!.value.args).toEqual({ file_path: "/a.md", content: "x" });
    const { files } = await agent.invoke(new Command({ resume: { type: "approve" } }), config);
    expect(files).toEqual({ "/a.md": "x" });
  });

  it("keep their meaning when the tool itself defines them", () => {
    const given = { pattern: "x", path: "/src", query: "y" };
    expect(repairArguments(FILE_ARGUMENTS.grep, given)).toEqual({ args: given, notes: [] });
  });

  it("keep their names where rules have read them already", () => {
    const given = { path: "/a.md" };
    const kept = repairArguments(FILE_ARGUMENTS.read_file, given, { mayRename: false });
    expect(kept).toEqual({ args: given, notes: [] });
  });
});

it("an error states the problems with the sent arguments", () => {
  const schema = z.object({ a: z.number(), b: z.string() });
  const { error } = schema.safeParse({ a: "x" });
  expect(problemsOf(error!, { a: "x" })).toBe(
    "b is missing; you sent a; a: Invalid input: expected number, received string",
  );
});
