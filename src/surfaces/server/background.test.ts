import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InMemoryStore } from "@langchain/langgraph";
import { tool } from "langchain";
import { afterEach, beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../../deep/index.ts";
import { sqliteSaver, type SqliteSaver } from "../../storage/index.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import { RunHost } from "../../threads/host/host.ts";
import { hostedGraph } from "./graphs.ts";

let folder: string;
let saver: SqliteSaver;
let host: RunHost | undefined;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-background-"));
  saver = await sqliteSaver(join(folder, "threads.db"));
});
afterEach(async () => {
  await host?.stop();
  saver.close();
  rmSync(folder, { recursive: true });
});

it("a cancelled run stops its background sub-agents, and the next run resumes them", async () => {
  const done: string[] = [];
  const record = tool(({ what }) => (done.push(what), "recorded"), {
    name: "record",
    description: "records",
    schema: z.object({ what: z.string() }),
  });
  let reached = (): void => {};
  const isReached = new Promise<void>((resolve) => {
    reached = resolve;
  });
  const never = () => new Promise<Step>(() => {});
  const agent = createDeepAgent({
    model: new ScriptedModel([
      callTool("task", { description: "look", subagent_type: "scout", background: true }, "t"),
      never,
      "Waiting.",
      "All told.",
    ]),
    background: true,
    tools: [record],
    subagents: [
      {
        name: "scout",
        description: "looks",
        model: new ScriptedModel([
          callTool("record", { what: "first" }),
          () => (reached(), never()),
          callTool("record", { what: "second" }),
          "Found 3 leaks.",
        ]),
      },
    ],
  });
  const graph = hostedGraph("agent", agent, { checkpointer: saver, store: new InMemoryStore() });
  host = new RunHost({ graphs: new Map([["agent", graph]]), checkpointer: saver, ledger: saver.ledger });
  const ask = (content: string) => ({ graph: "agent", input: { messages: [{ type: "human", content }] } });

  const first = await host.start("t", ask("Look"));
  await isReached;
  await host.cancel(first.id);
  await first.done;
  const second = await host.start("t", ask("Go on"));
  await second.done;

  expect(done).toEqual(["first", "second"]);
  const { checkpoint } = (await saver.getTuple({ configurable: { thread_id: "t" } }))!;
  const { messages } = checkpoint.channel_values as { messages: { text: string }[] };
  expect(messages.at(-1)!.text).toBe("All told.");
  expect(messages.filter(({ text }) => text.includes("Found 3 leaks."))).toHaveLength(1);
  const events = second.live.all().filter(({ type }) => type.startsWith("subagent-"));
  expect(events.map(({ type }) => type)).toEqual(["subagent-start", "subagent-end"]);
});
