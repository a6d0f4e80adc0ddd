import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { BaseMessage } from "@langchain/core/messages";
import { expect, it, onTestFinished } from "vitest";
import { taskInput } from "../../../test/helpers/models/run-thread.ts";
import { sqliteSaver } from "../../storage/index.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import { transcript } from "../log/transcript.ts";
import { createRunAgent } from "../prepare/agent.ts";
import { DEFAULT_SETTINGS } from "../prepare/settings.ts";
import { replay } from "../record/replay.ts";
import { Thread } from "../thread/thread.ts";
import { earlierMessages } from "../undo/earlier-messages.ts";

/** Written before summaries stood beside the messages: its first message is a summary, and the request is gone. */
const FILE = new URL("../../../test/helpers/threads/summarized-in-messages.db.gz", import.meta.url);
const REQUEST = "Look around. Never touch date.js.";
const settings = { ...DEFAULT_SETTINGS, model: "scripted" };

it("a thread summarized by an older version is shown whole and continues from there", async () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-older-"));
  const file = join(folder, "threads.db");
  writeFileSync(file, gunzipSync(readFileSync(FILE)));
  const checkpointer = await sqliteSaver(file);
  onTestFinished(() => {
    checkpointer.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const asked: string[] = [];
  let calls = 0;
  const step: Step = ({ messages }) => {
    const all = messages.map(({ text }) => text).join("\n");
    if (all.includes("Write the summary under these headings")) {
      asked.push(all);
      return "SUMMARY-NEW";
    }
    calls += 1;
    return calls < 4 ? callTool("ls", { path: `/${calls}` }) : "Later.";
  };
  const model = new ScriptedModel([step], { loop: true });
  const agent = createRunAgent({ settings, model, checkpointer, compactAt: 12 });
  const thread = new Thread(agent, "t");
  const told = async (): Promise<string> => transcript(await replay(thread));

  const { todos, rules, answer, files } = await thread.content();
  expect(todos.map(({ content, status }) => `${content}: ${status}`)).toEqual([
    "List the folders: in_progress",
    "Report: pending",
  ]);
  expect([rules, answer, Object.keys(files)]).toEqual([[], "Later.", ["/history/t.md"]]);
  expect(await told()).toContain(`## You\n\n${REQUEST}`);
  const said: string[] = [];
  for await (const { text } of earlierMessages(thread)) said.push(text);
  expect(said).toEqual([REQUEST]);

  await agent.graph.invoke(taskInput("Look once more", { run: settings }) as never, thread.config);
  const isIn = (messages: readonly BaseMessage[], words: string): boolean =>
    messages.some(({ text }) => text.includes(words));
  const requests = model.requests.filter(({ messages }) => !isIn(messages, "Write the summary under"));
  expect(requests[0]!.messages[1]!.text).toContain("SUMMARY-OLD");
  expect(asked).toHaveLength(1);
  expect(asked[0]).toContain("SUMMARY-OLD");
  const last = requests.at(-1)!.messages;
  expect(isIn(last, "SUMMARY-NEW")).toBe(true);
  expect(isIn(last, "SUMMARY-OLD")).toBe(false);
  expect(requests.filter(({ messages }) => !isIn(messages, "Look once more"))).toEqual([]);
  expect(await told()).toMatch(
    /Never touch date\.js\.[^]*Look once more[^]*\*Summarized \d+ earlier messages/,
  );
});
