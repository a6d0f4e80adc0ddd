import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AIMessage } from "@langchain/core/messages";
import { expect, it, onTestFinished } from "vitest";
import { pipes } from "../../../../../test/helpers/terminal/piped-command.ts";
import { sqliteSaver } from "../../../../storage/index.ts";
import { ScriptedModel } from "../../../../testing/index.ts";
import { localHost } from "../../../../threads/host/threads-graph.ts";
import { settingsOfThread } from "../../../../threads/thread/thread-settings.ts";
import { graphOptions } from "./worker.ts";

const usage_metadata = { input_tokens: 900, output_tokens: 100, total_tokens: 1000 };
const look = (n: number) =>
  Object.assign(
    new AIMessage({ content: "", tool_calls: [{ name: "ls", args: { path: `/${n}` }, id: `${n}` }] }),
    {
      usage_metadata,
    },
  );

/** The host of `holdfast mcp`; servers and workers build their agents from the same options. */
async function hostFor(env: Record<string, string>) {
  const cwd = mkdtempSync(join(tmpdir(), "holdfast-budget-"));
  const { terminal } = pipes({ cwd, env: { HOME: cwd, HOLDFAST_MODEL: "offline", ...env } });
  const options = await graphOptions({ budget: "cost=0.008" }, terminal, { isWatched: false });
  const saver = await sqliteSaver(":memory:");
  const model = new ScriptedModel([look(1), look(2), look(3), look(4), "Done."]);
  const modelOf = async () => ({ model, name: "scripted", source: "option", isFallback: false }) as const;
  const host = localHost({ ...options, saver, modelOf });
  onTestFinished(async () => {
    await host.stop();
    await options.servers.close();
    saver.close();
    rmSync(cwd, { recursive: true });
  });
  return { thread: host.thread("t"), saver };
}

it("a budget in money stops runs of servers, workers and MCP clients, per thread", async () => {
  const { thread, saver } = await hostFor({ HOLDFAST_PRICES: "3,15" });
  for (const message of ["Look", "Go on"]) {
    const run = await thread.start(message);
    await run.done;
    expect(run.live.all().at(-1)).toMatchObject({ type: "run-end", outcome: "open", reason: "cost-limit" });
  }
  expect(await settingsOfThread(saver, "t")).toMatchObject({ budget: { cost: 0.008, prices: { input: 3 } } });
});

it("a budget in money without prices says what to set", async () => {
  const { thread } = await hostFor({});
  const run = await thread.start("Look");
  await run.done;
  expect(run.live.all().at(-1)).toMatchObject({
    type: "run-end",
    outcome: "failed",
    error: expect.stringContaining("set HOLDFAST_PRICES"),
  });
});
