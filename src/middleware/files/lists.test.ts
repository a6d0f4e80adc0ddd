import { closeSync, mkdirSync, mkdtempSync, openSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { createAgent } from "langchain";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stateFiles } from "../../files/backends/state.ts";
import { diskBackend } from "../../files/index.ts";
import { callTool, ScriptedModel } from "../../testing/index.ts";
import { filesMiddleware } from "./index.ts";
import { operate } from "./operate.ts";
import type { FilesOptions } from "./options.ts";

const MANY = 2000;
/** With it they are longer than any tool shows. */
const LONG_NAME = "x".repeat(40);
const LIMIT = 40_000;
const root = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-many-")));
afterAll(() => rmSync(root, { recursive: true }));
beforeAll(() => {
  mkdirSync(join(root, "many"));
  for (let at = 0; at < MANY; at += 1)
    closeSync(openSync(join(root, "many", `file-${at}-${LONG_NAME}.ts`), "w"));
  writeFileSync(join(root, "long.txt"), `${"needle ".repeat(60)}\n`.repeat(2000));
});

/** What the model gets for these calls. */
async function answers(calls: ReturnType<typeof callTool>[], options: FilesOptions = {}): Promise<string[]> {
  const agent = createAgent({
    model: new ScriptedModel([calls, "ok"]),
    middleware: [filesMiddleware({ backend: diskBackend(root), ...options })],
  });
  const { messages } = await agent.invoke({ messages: [new HumanMessage("go")] });
  return messages.flatMap((message) => (ToolMessage.isInstance(message) ? message.text : []));
}

describe("in a directory of very many files", () => {
  const calls = [
    callTool("ls", { path: "/many" }),
    callTool("ls", { path: "/many", sizes: true }),
    callTool("glob", { pattern: "**" }),
    callTool("glob", { pattern: "many/*", sizes: true }),
  ];

  it("a list keeps to the result limit, counts the rest, and tells how to narrow it", async () => {
    for (const text of await answers(calls)) {
      expect(text.length).toBeLessThanOrEqual(LIMIT);
      expect(text.length).toBeGreaterThan(LIMIT - 300);
      const [, shown, all, more] = /\n\[Cut after (\d+) of (\d+) lines: (\d+) more\. .+\]$/.exec(text)!;
      expect(Number(shown)).toBe(text.split("\n").length - 1);
      expect(Number(shown) + Number(more)).toBe(Number(all));
      expect(Number(all)).toBeGreaterThanOrEqual(MANY);
    }
  });

  it("a list keeps to the user's result limit, and the tools alone set no limit", async () => {
    for (const text of await answers(calls, { resultLimit: 2000 }))
      expect(text.length).toBeLessThanOrEqual(2000);
    for (const text of await answers(calls.slice(2), { resultLimit: false })) {
      expect(text.length).toBeGreaterThan(LIMIT);
      expect(text.length).toBeLessThanOrEqual(100_000);
    }
  });

  it("a search keeps to the limit for any request of the model, and keeps its notes", async () => {
    const texts = await answers([
      callTool("grep", { pattern: "needle", limit: 1500, context: 2 }),
      callTool("grep", { pattern: "needle", limit: 100_000 }),
    ]);
    for (const text of texts) {
      expect(text.length).toBeLessThanOrEqual(LIMIT);
      expect(text).toMatch(
        /\n\[Cut after \d+ of \d+ lines: \d+ more\. Narrow the pattern, the path or the glob\.\]/,
      );
    }
    expect(texts[0]).toMatch(/\n\[Stopped at 1500 matching lines: [^\n]+\]$/);
    const narrow = await answers([callTool("glob", { pattern: "many/file-199*.ts" })]);
    expect(narrow[0]!.split("\n")).toHaveLength(11);
  });
});

describe("a list", () => {
  const files = stateFiles({
    "/.gitignore": "dist\n*.log\n",
    "/.git/HEAD": "x",
    "/a.log": "x",
    "/dist/b.js": "x",
    "/c.ts": "x",
  });
  const say = async (name: "ls" | "glob" | "grep", args: object): Promise<string> =>
    (await operate(files, { name, args })).text;

  it("leaves out ignored files, counts them, and shows them on request", async () => {
    expect(await say("ls", {})).toBe("/.gitignore\n/c.ts\n[2 more with ignored: true.]");
    expect(await say("ls", { ignored: true })).toBe("/.git/\n/.gitignore\n/a.log\n/c.ts\n/dist/");
    expect(await say("ls", { path: "/dist" })).toBe("/dist/b.js");
    expect(await say("glob", { pattern: "**" })).toBe("/.gitignore\n/c.ts");
    expect(await say("glob", { pattern: "**/*.js", ignored: true })).toBe("/dist/b.js");
    expect(await say("grep", { pattern: "x", output: "files" })).toBe("/c.ts");
    expect(await say("grep", { pattern: "x", output: "files", ignored: true })).toBe(
      "/.git/HEAD\n/a.log\n/c.ts\n/dist/b.js",
    );
  });
});
