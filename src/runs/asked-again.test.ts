import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SCHEDULED } from "@langchain/langgraph-checkpoint";
import { afterEach, beforeEach, expect, it } from "vitest";
import { sqliteSaver } from "../storage/index.ts";
import { callTool, ScriptedModel } from "../testing/index.ts";
import { createRunAgent } from "./agent.ts";
import { drive, taskInput } from "./drive.ts";
import { DEFAULT_SETTINGS } from "./settings.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "holdfast-asked-again-"));
});
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});

it.each([1, 2])(
  "a sub-agent's question is never hidden from who could answer it, wherever the run is stopped while its call is recorded (at record %s)",
  async (last) => {
    const model = new ScriptedModel([
      callTool("task", { description: "Write", subagent_type: "general-purpose" }),
      callTool("write_file", { file_path: "/a", content: "a" }),
      "Written.",
      "Done.",
    ]);
    const saver = await sqliteSaver(":memory:");
    const settings = { ...DEFAULT_SETTINGS, model: "scripted", plan: false, dir, ask: ["write_file"] };
    const agent = createRunAgent({ settings, model, checkpointer: saver });
    const stop = new AbortController();
    const run = (input: object | null, signal: AbortSignal, answer: () => void) =>
      drive(input, {
        agent,
        thread: "t",
        model: { model, name: "scripted", source: "option" },
        emit: () => {},
        signal,
        answer: () => {
          answer();
          return Promise.resolve({ type: "approve" });
        },
      });

    let records = 0;
    const putWrites = saver.putWrites.bind(saver);
    saver.putWrites = (config, writes, task) => {
      if (writes[0]?.[0] !== SCHEDULED || ++records !== last) return putWrites(config, writes, task);
      stop.abort();
      return new Promise(() => {});
    };
    expect(await run(taskInput("Go", {}), stop.signal, () => {})).toMatchObject({ outcome: "interrupted" });
    let asked = 0;
    expect(await run(null, new AbortController().signal, () => (asked += 1))).toMatchObject({
      outcome: "done",
      answer: "Done.",
    });
    expect(asked).toBeGreaterThan(0);
    saver.close();
  },
);
