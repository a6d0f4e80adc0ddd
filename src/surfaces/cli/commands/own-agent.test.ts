import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tool } from "@langchain/core/tools";
import { createAgent, humanInTheLoopMiddleware } from "langchain";
import { afterAll, expect, it } from "vitest";
import { z } from "zod";
import { inPipes } from "../../../../test/helpers/terminal/piped-command.ts";
import { planMiddleware } from "../../../middleware/index.ts";
import { callTool, ScriptedModel } from "../../../testing/index.ts";

const home = mkdtempSync(join(tmpdir(), "holdfast-own-agent-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const counted: string[] = [];
const count = tool(({ what }) => `${counted.push(what)} ${what}`, {
  name: "count",
  description: "Counts.",
  schema: z.object({ what: z.string() }),
});
const boats = callTool("count", { what: "boats" });
const model = new ScriptedModel([
  callTool("write_todos", { todos: ["Count boats", "Tell the user"] }),
  boats,
  boats,
  callTool("update_todos", { done: "1" }),
  "One boat.",
]);

it("a user's own graph runs and continues in the terminal, with LangChain's reviews", async () => {
  const review = humanInTheLoopMiddleware({ interruptOn: { count: true } }) as never;
  // As in another process each time: a graph is built for its store.
  const build = () => createAgent({ model, tools: [count], middleware: [planMiddleware(), review] });
  Object.assign(globalThis, { agentOfTest: build });
  writeFileSync(join(home, "counter.mjs"), "export const agent = globalThis.agentOfTest;");
  const env = { HOME: home, HOLDFAST_STATE: join(home, "threads.db") };
  const holdfast = (...args: string[]) => inPipes(args, { cwd: home, env });

  const begun = await holdfast("run", "--agent", "./counter.mjs", "--thread", "one", "Count the boats");
  expect(begun.code).toBe(3);
  expect(begun.out).toMatch(
    /with counter\n[^]*asks for permission:\ncount \{"what":"boats"\}\n {2}- approve/,
  );
  expect(begun.out).toContain("holdfast resume --agent ./counter.mjs one --answer approve");

  expect((await holdfast("resume", "one")).err).toContain("holdfast resume --agent");
  const refused = await holdfast("resume", "--agent", "./counter.mjs", "one", "-a", "reject: look again");
  expect([refused.code, refused.err]).toEqual([3, ""]);
  expect(JSON.stringify(model.requests[2]!.messages.at(-1))).toContain("look again");
  expect(counted).toEqual([]);

  const done = await holdfast("resume", "--agent", "./counter.mjs", "one", "--answer", "approve");
  expect([done.code, counted]).toEqual([0, ["boats"]]);
  expect(done.out).toContain("One boat.");
  expect((await holdfast("threads")).out).toMatch(/one +done +2\/2/);
});

it("flags of Holdfast's own agent are refused", async () => {
  const { code, err } = await inPipes(["run", "--agent", "./a.mjs", "--model", "x", "Go"], {
    cwd: home,
    env: { HOME: home, HOLDFAST_STATE: join(home, "other.db") },
  });
  expect(code).toBe(2);
  expect(err).toContain("--model is for Holdfast's own agent: leave it out, and set it in ./a.mjs.");
});
