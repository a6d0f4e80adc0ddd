import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { createAgent, tool } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../../../deep/index.ts";
import { callTool, ScriptedModel, type Step } from "../../../testing/index.ts";
import { planMiddleware } from "../index.ts";
import type { PlanOptions } from "../options.ts";
import { commandsIn, filesIn, isForAnswer } from "./item-words.ts";

const go = { messages: [new HumanMessage("go")] };
const file = z.object({ file_path: z.string() });
const named = (name: string, schema: z.ZodObject, artifact?: object) =>
  tool(() => (artifact ? ["ran", artifact] : "ok"), {
    name,
    description: name,
    schema,
    ...(artifact && { responseFormat: "content_and_artifact" as const }),
  });
const command = z.object({ command: z.string() });
const TOOLS = [
  named("write_file", file),
  named("read_file", file),
  named("ls", z.object({})),
  named("execute", command),
  named("look_up", z.object({ query: z.string() })),
];

const write = (path: string) => callTool("write_file", { file_path: path });
const read = (path: string) => callTool("read_file", { file_path: path });
const run = (line: string) => callTool("execute", { command: line });
const plan = (...todos: (string | object)[]) => callTool("write_todos", { todos });
const done = (ids: string, more: object = {}) => callTool("update_todos", { done: ids, ...more });

/** The statuses in letters, `u` for unverified, and the results of plan calls. */
async function played(steps: Step[], options: PlanOptions = {}, tools = TOOLS) {
  const model = new ScriptedModel([...steps, "ok", "ok", "ok"]);
  const middleware = [planMiddleware({ reminders: false, ...options })] as const;
  const { messages, todos } = await createAgent({ model, tools, middleware }).invoke(go);
  const replies = messages.filter(
    (message) => ToolMessage.isInstance(message) && message.name === "update_todos",
  );
  const letters = todos.map(({ status, unverified }) => (unverified ? "u" : status[0]!));
  return { letters: letters.join(""), texts: replies.map(({ text }) => text) };
}

describe("an item that names a file", () => {
  it("completes when the file was written or read since the plan, in any order", async () => {
    const steps = [
      plan("Implement parse.js", "Implement src/dedupe.js", "Read SPEC.md", "rest", "more"),
      [write("/parse.js"), write("/src/dedupe.js"), read("/SPEC.md")],
      done("1"),
      done("2,3"),
    ];
    expect((await played(steps)).letters).toBe("cccip");
  });

  it("is refused when nothing has touched the file, with one line of advice", async () => {
    const { letters, texts } = await played([
      plan("Implement parse.js", "Implement dedupe.js", "rest"),
      write("/parse.js"),
      done("1,2"),
    ]);
    expect(letters).toBe("cip");
    expect(texts[0]).toBe(
      '1/3 done; now 2.\nItem 2 is not accepted as completed: dedupe.js was neither read nor written since the plan was made. Do it, or report {"done":"2: what you did"}.',
    );
  });

  it("does not count a read from before the plan, unless reading is its work", async () => {
    const { letters } = await played([read("/a.js"), plan("Read a.js", "Fix a.js", "rest"), done("1,2")]);
    expect(letters).toBe("cip");
  });

  it("accepts a read from before the plan next to another file written since", async () => {
    const steps = [
      read("/STYLE.md"),
      plan("Write /report.md by STYLE.md", "rest"),
      write("/report.md"),
      done("1"),
    ];
    expect((await played(steps)).letters).toBe("ci");
  });

  it("is recognized in a command too", async () => {
    const steps = [
      plan("Fix src/a.js", "Fix b.js", "rest"),
      run("cd src && sed -i s/x/y/ a.js"),
      done("1,2"),
    ];
    expect((await played(steps)).letters).toBe("cip");
  });
});

describe("an item that names a command", () => {
  it("completes when that succeeded after the last change", async () => {
    const list = plan("Fix a.js", "Run npm test", "rest");
    expect((await played([list, write("/a.js"), run("npm test"), done("1,2")])).letters).toBe("cci");
    const early = await played([list, run("npm test"), write("/a.js"), done("1,2")]);
    expect(early.letters).toBe("cip");
    expect(early.texts[0]).toContain('"npm test" last ran before /a.js was changed');
    const prose = await played([list, run("npm test"), write("/CHANGELOG.md"), done("2")]);
    expect(prose.letters[1]).toBe("c");
  });

  it("is not done by a listing, by another command, or by a failure", async () => {
    const list = plan("Run npm test", "rest");
    for (const step of [callTool("ls", {}), run("ls -la"), run("node -v")]) {
      const { letters, texts } = await played([list, step, done("1")]);
      expect([letters, texts[0]]).toEqual(["ip", expect.stringContaining('"npm test" has not run')]);
    }
    const failing = TOOLS.with(3, named("execute", command, { exitCode: 1 }));
    const failed = await played([list, run("npm test"), done("1")], {}, failing);
    const line = await played([list, run("npm test; node cli.js --wrong"), done("1")], {}, failing);
    expect(line.letters).toBe("ci");
    expect([failed.letters, failed.texts[0]]).toEqual([
      "ip",
      expect.stringContaining("failed when it last ran"),
    ]);
  });
});

describe("any other item", () => {
  const list = plan("read", "build", "check", "polish", "publish");

  it("needs a call of its own: one call does not complete five items", async () => {
    expect((await played([list, callTool("look_up", { query: "x" }), done("1,2,3,4,5")])).letters).toBe(
      "cippp",
    );
    expect((await played([list, callTool("ls", {}), done("1,2,3,4,5")])).letters).toBe("ipppp");
  });

  it("is done by a listing where to find things is its work", async () => {
    expect((await played([plan("List the files", "rest"), callTool("ls", {}), done("1")])).letters).toBe(
      "ci",
    );
    expect((await played([plan("Build it", "rest"), callTool("ls", {}), done("1")])).letters).toBe("ip");
  });

  it("may have been worked on side by side with others", async () => {
    const side = ["a", "b", "c"].map((query) => callTool("look_up", { query }));
    expect((await played([list, side, done("1"), done("2,3")])).letters).toBe("cccip");
  });

  it("does not profit from a call that speaks of another item", async () => {
    const items = plan("Migrate billing", "Migrate search", "Migrate stock");
    const steps = [
      items,
      callTool("look_up", { query: "billing" }),
      callTool("look_up", { query: "billing" }),
    ];
    expect((await played([...steps, done("1,2")])).letters).toBe("cip");
    expect((await played([items, callTool("look_up", { query: "search" }), done("2")])).letters).toBe("icp");
  });

  it("is completed by a call about a previously completed item, such as its file", async () => {
    const kelp = (): Step => callTool("look_up", { query: "kelp" });
    const items = plan("Write about kelp", "Correct it", "rest");
    expect((await played([items, kelp(), done("1"), kelp(), done("2")])).letters).toBe("cci");
  });
});

describe("an item without evidence", () => {
  const list = plan("Decide on a name", "rest");

  it("is completed with a note of the work, and marked", async () => {
    for (const report of [done("1: took the shorter one"), done("1", { note: "took the shorter one" })]) {
      const { letters, texts } = await played([list, done("1"), report]);
      expect(letters).toBe("ui");
      expect(texts.map((text) => text.split("\n")[0])).toEqual([
        expect.stringContaining("Error: Item 1 is not accepted"),
        "1/2 done; now 2.",
      ]);
    }
  });

  it("is refused with a note that says nothing", async () => {
    expect((await played([list, done("1: …"), done("1", { note: "-" })])).letters).toBe("ip");
  });

  it("is refused with any note when it must be verified, until the user marks it", async () => {
    const { letters, texts } = await played([
      plan({ content: "Decide on a name", mustVerify: true }, "rest"),
      done("1: took the shorter one"),
    ]);
    expect(letters).toBe("ip");
    expect(texts[0]).toContain("It must be verified: do it, or have the user mark it.");
    const off = await played([plan({ content: "Decide", must_verify: true }, "rest"), done("1: ok, done")], {
      verify: false,
    });
    expect([off.letters, off.texts[0]]).toEqual([
      "ip",
      expect.stringContaining("nothing here can verify it"),
    ]);
  });

  it("is accepted with verify: false, and a custom verifier reads its key and note", async () => {
    expect((await played([list, done("1,2")], { verify: false })).letters).toBe("cc");
    const seen: unknown[] = [];
    const keyed = plan({ content: "Decide on a name", key: "name" }, "rest");
    await played([keyed, done("1: at last")], {
      verify: ({ key }, { note }) => void seen.push([key, note]),
    });
    expect(seen).toEqual([["name", "at last"]]);
  });

  it("is refused in the words of the preset", async () => {
    const inline = await played([list, callTool("ls", { todo_done: "1" })], { reports: "inline" });
    expect(inline.letters).toBe("ip");
    const { workWasDone } = await import("./evidence.ts");
    const model = new ScriptedModel([
      callTool("write_todos", { todos: [{ content: "Decide", status: "in_progress" }] }),
      callTool("write_todos", { todos: [{ content: "Decide", status: "completed" }] }),
      callTool("write_todos", { todos: [{ content: "Decide", status: "completed", note: "the shorter" }] }),
      "ok",
    ]);
    const middleware = [planMiddleware({ preset: "classic", verify: workWasDone() })] as const;
    const { messages, todos } = await createAgent({ model, middleware }).invoke(go);
    expect(messages[4]!.text).toContain("Do it, or give it a note of what was done.");
    expect(todos[0]).toMatchObject({ status: "completed", unverified: true });
  });
});

describe("a final answer", () => {
  const last = async (steps: Step[]) => {
    const model = new ScriptedModel(steps);
    const agent = createAgent({ model, tools: TOOLS, middleware: [planMiddleware()] });
    const { todos, messages } = await agent.invoke(go);
    return { calls: model.requests.length, letters: todos.map(({ status }) => status[0]).join(""), messages };
  };

  it("completes an item that only reports to the user, without a tool call", async () => {
    const { calls, letters } = await last([
      plan("Fix a.js", "Tell the user"),
      write("/a.js"),
      done("1"),
      "I fixed it.",
    ]);
    expect([calls, letters]).toEqual([4, "cc"]);
  });

  it("completes an item whose work was done before it was started", async () => {
    const { calls, letters } = await last([
      plan("Fix a.js", "Fix b.js"),
      [write("/a.js"), write("/b.js")],
      done("1"),
      "Both are fixed.",
    ]);
    expect([calls, letters]).toEqual([4, "cc"]);
  });

  it("does not complete a command that never ran, and names it to the model", async () => {
    const { letters, messages } = await last([
      plan("Fix a.js", "Run npm test"),
      write("/a.js"),
      done("1"),
      "All tests pass.",
      run("npm test"),
      "They do now.",
    ]);
    expect(letters).toBe("cc");
    expect(messages.findLast((message) => AIMessage.isInstance(message))!.text).toBe("They do now.");
  });
});

it("in a deep agent, calls before a report in the same message are evidence", async () => {
  const model = new ScriptedModel([
    plan("Write a.md", "Write b.md", "rest"),
    [
      callTool("write_file", { file_path: "/a.md", content: "a" }),
      done("1"),
      callTool("write_file", { file_path: "/b.md", content: "b" }),
      done("2"),
    ],
    "ok",
  ]);
  const agent = createDeepAgent({ model, plan: { reminders: false, finalAnswer: "leave" } });
  const { todos } = await agent.invoke(go);
  expect(todos.map(({ status }) => status[0]).join("")).toBe("cci");
});

it("the parser finds files, and commands by name or purpose, and ignores other words", () => {
  expect(filesIn("Move to Node.js v1.2, e.g. src/a.test.ts and README.md, not and/or")).toEqual([
    "src/a.test.ts",
    "README.md",
  ]);
  const commands = (text: string): string[] => commandsIn(text).map((one) => one.text);
  expect(commands("Run npm run build and `git push --tags`")).toEqual(["npm run build", "git push --tags"]);
  expect(commands("Make sure to go on with node versions")).toEqual([]);
  expect(commands("Run all tests and check")).toEqual(["all tests"]);
  expect(["Tell the user", "Summarize", "Summarize in a.md", "Build it"].map(isForAnswer)).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
