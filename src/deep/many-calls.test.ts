import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { HumanMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { afterEach, beforeEach, expect, it } from "vitest";
import { makeLeadAgent } from "../lead/index.ts";
import { callTool, ScriptedModel, type Step } from "../testing/index.ts";
import { createDeepAgent } from "./index.ts";

const config = { configurable: { thread_id: "t", subagent_enabled: true } };
const go = { messages: [new HumanMessage("go")] };
const many = <Call>(call: Call): Call[] => Array.from({ length: 30 }, () => call);
const LOOK = many(callTool("ls", { path: "/" }));
const DELEGATE = many(callTool("task", { description: "Look", subagent_type: "general-purpose" }));

let warnings: Error[];
const listen = (warning: Error): void => void warnings.push(warning);
beforeEach(() => {
  warnings = [];
  process.on("warning", listen);
});
afterEach(() => void process.off("warning", listen));

it.each([true, false])(
  "thirty calls in one turn cause no leak warning, in an abortable run or not (%s)",
  async (isAbortable) => {
    const abortable = isAbortable ? { signal: new AbortController().signal } : {};
    const deep = (steps: Step[]) =>
      createDeepAgent({ model: new ScriptedModel(steps), checkpointer: new MemorySaver() });
    const helpers = Array.from({ length: 30 }, () => "Seen.");
    for (const agent of [deep([LOOK, "ok"]), deep([LOOK, LOOK, DELEGATE, ...helpers, "ok"])]) {
      const { messages } = await agent.invoke(go, { ...config, ...abortable });
      expect(messages.at(-1)!.text).toBe("ok");
    }
    const options = {
      model: new ScriptedModel([LOOK, DELEGATE, ...helpers, "ok"]),
      baseDir: mkdtempSync(join(tmpdir(), "holdfast-many-")),
      title: { model: new ScriptedModel(["T"]) },
    };
    const { messages } = await makeLeadAgent(config, options).invoke(go, { ...config, ...abortable });
    expect(messages.at(-1)!.text).toBe("ok");
    // A warning comes a moment later.
    await setImmediate();
    expect(warnings.map(({ name }) => name)).toEqual([]);
  },
);
