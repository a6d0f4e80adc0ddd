import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ToolMessage } from "@langchain/core/messages";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createDeepAgent } from "../src/deep/index.ts";
import { shellBackend } from "../src/files/index.ts";
import { callTool, ScriptedModel } from "../src/testing/index.ts";

/** A task of seven parts with the calls of somebody who played the model, message by message. */
interface Played {
  task: string;
  files: Record<string, string>;
  turns: [name: string, args: Record<string, unknown>][][];
}

const played = JSON.parse(readFileSync(new URL("played/shelf.json", import.meta.url), "utf8")) as Played;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-played-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it("a task of seven parts in 40 calls and 6 messages is done without a refusal", async () => {
  const root = join(folder, "project");
  for (const [path, content] of Object.entries(played.files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  const turns = played.turns.map((calls, turn) =>
    calls.map(([name, args], at) => callTool(name, args, `c${turn}-${at}`)),
  );
  expect(turns.flat()).toHaveLength(40);
  const model = new ScriptedModel([...turns, "Done."]);
  const backend = shellBackend(root, { isolation: "never" });
  const { messages, todos } = await createDeepAgent({ model, backend }).invoke({
    messages: [{ role: "user", content: played.task }],
  });
  const results = messages.filter((message) => ToolMessage.isInstance(message));
  expect(results).toHaveLength(40);
  expect(results.filter(({ status }) => status === "error")).toEqual([]);
  // Each run of the tests stands behind the edits of its message, and finds them.
  const passed = results.flatMap(({ text }) => /^# pass (\d+)\n# fail 0$/m.exec(text)?.[1] ?? []);
  expect(passed).toEqual(["4", "7", "10", "13", "13", "13", "14"]);
  expect((todos ?? []).every(({ status }) => status === "completed")).toBe(true);
  expect(model.requests).toHaveLength(6);
});
