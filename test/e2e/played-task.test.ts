import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createDeepAgent } from "../../src/deep/index.ts";
import { diskBackend, shellBackend } from "../../src/files/index.ts";
import { McpServers } from "../../src/mcp/index.ts";
import { sqliteSaver } from "../../src/storage/index.ts";
import { callTool, ScriptedModel, type Step } from "../../src/testing/index.ts";

/** A task with the calls of somebody who played the model, message by message. */
interface Played {
  task: string;
  files: Record<string, string>;
  turns: [name: string, args: Record<string, unknown>][][];
}

/** A task that was summarized, stopped twice, and given a condition more when it went on for the last time. */
interface PlayedLong extends Played {
  later: string;
  /** The numbers of turns before the stops. */
  stops: [first: number, second: number];
  /** Each a date, sentences or their numbers, and a name. */
  letters: Record<string, (string | number)[]>;
  sentences: string[];
  summaries: string[];
  answer: string;
}

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-played-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it("a task of seven parts in 40 calls and 6 messages is done without a refusal", async () => {
  const played = read("shelf") as Played;
  const root = project(played.files);
  const turns = callsOf(played);
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

it("a task of 34 messages keeps every condition through summaries and stops", async () => {
  const played = read("estate") as PlayedLong;
  const letters = Object.entries(played.letters).map(([id, parts]) => [
    `letters/${id}.txt`,
    letter(parts, played.sentences),
  ]);
  const root = project({ ...played.files, ...(Object.fromEntries(letters) as Record<string, string>) });
  const turns = callsOf(played);
  const requests: BaseMessage[][] = [];
  const stops = [...played.stops];
  let turn = 0;
  let summaries = 0;
  const play: Step = ({ messages }) => {
    requests.push(messages);
    if (isForSummary(messages)) return played.summaries[summaries++] ?? played.summaries.at(-1)!;
    if (turn === stops[0]) {
      stops.shift();
      return new Error("stopped");
    }
    return turns[turn++] ?? played.answer;
  };
  /** Another agent on the same thread, as in another process. */
  const go = async (content?: string) => {
    const checkpointer = await sqliteSaver(join(folder, "threads.sqlite"));
    try {
      const agent = createDeepAgent({
        model: new ScriptedModel([play], { loop: true }),
        backend: shellBackend(root, { isolation: "never" }),
        checkpointer,
        summarization: { trigger: { tokens: 9000 } },
      });
      const input = content === undefined ? null : { messages: [{ role: "user", content }] };
      return await agent.invoke(input, { configurable: { thread_id: "estate" }, recursionLimit: 200 });
    } finally {
      checkpointer.close();
    }
  };
  await expect(go(played.task)).rejects.toThrow("stopped");
  await expect(go()).rejects.toThrow("stopped");
  const before = requests.length;
  const { messages, todos } = await go(played.later);

  expect(turn).toBe(34);
  expect(summaries).toBeGreaterThanOrEqual(3);
  const lines = played.task.split("\n");
  const missing = requests.flatMap((request, at) => {
    const text = request.map((message) => message.text).join("\n");
    const wanted = at < before ? lines : [...lines, played.later];
    return wanted.filter((line) => !text.includes(line)).map((line) => `request ${at}: ${line}`);
  });
  expect(missing).toEqual([]);
  // A request for a summary is the next turn of the conversation: it begins as the request before it of the process.
  const asked = [...requests.keys()].filter((at) => isNextTurn(requests[at]!));
  expect(asked.length).toBeGreaterThanOrEqual(2);
  for (const at of asked)
    expect(sent(requests[at]!)).toEqual(expect.arrayContaining(sent(requests[at - 1]!)));
  const results = messages.filter((message) => ToolMessage.isInstance(message));
  expect(results.filter(({ status }) => status === "error")).toEqual([]);
  expect(messages.at(-1)!.text).toBe(played.answer);
  expect((todos ?? []).every(({ status }) => status === "completed")).toBe(true);
  expect(readdirSync(join(root, "catalogue"))).toHaveLength(34);
  expect(readFileSync(join(root, "catalogue/SUMMARY.md"), "utf8")).toContain("\nTotal: 5115\n");
});

it("a report with six readers takes 2 calls and 3 kB of fixed text each at most", async () => {
  const quick = await playHuts("reader");
  expect(quick.calls).toEqual(Array(6).fill(2));
  expect(Math.max(...quick.fixed)).toBeLessThanOrEqual(3000);
  expect(quick.tokens).toBeLessThanOrEqual(50_000);
  // The same calls by the same hands, with all definitions in each request.
  const before = await playHuts("general-purpose", { searchAbove: 1_000_000 });
  expect(before.report).toBe(quick.report);
  expect(quick.report).toContain("Sum of the altitudes: 12280 m");
  expect(before.tokens / quick.tokens).toBeGreaterThan(1.5);
  expect(Math.min(...before.fixed)).toBeGreaterThan(8000);
  const { tokens: searched } = await playHuts("general-purpose");
  expect(searched).toBeLessThan(before.tokens * 0.8);
});

interface PlayedTeam extends Played {
  filler: string;
  skill: string;
  answer: string;
  /** The reports by hut. */
  helpers: Record<string, string>;
}

/** Plays the report on six huts, and counts the requests of each helper, their fixed text and all tokens. */
async function playHuts(kind: string, settings: { searchAbove?: number } = {}) {
  const played = read("huts") as PlayedTeam;
  const filled = Object.entries(played.files).map(([path, text]) => [
    path,
    text.replaceAll(/\{fill:(\d+)\}/g, (_, times: string) => played.filler.repeat(Number(times))),
  ]);
  const files = {
    ...Object.fromEntries(filled),
    ".agents/skills/cite/SKILL.md": played.skill,
  } as Played["files"];
  rmSync(join(folder, "project"), { recursive: true, force: true });
  const root = project(files);
  const turns = callsOf(played).map((calls) =>
    calls.map((call) =>
      call.name === "task" ? { ...call, args: { ...call.args, subagent_type: kind } } : call,
    ),
  );
  const calls = new Map<string, number>();
  const fixed: number[] = [];
  let tokens = 0;
  const play: Step = ({ messages, tools }) => {
    tokens += encode(JSON.stringify([messages.map(({ text }) => text), tools])).length;
    const brief = messages.find(({ type }) => type === "human")!.text;
    const [, hut] = /^Read \/huts\/(\w+)\//.exec(brief) ?? [];
    const at = messages.filter(({ type }) => type === "ai").length;
    if (hut === undefined) return turns[at] ?? played.answer;
    calls.set(hut, (calls.get(hut) ?? 0) + 1);
    if (at === 0) fixed.push(Buffer.byteLength(messages[0]!.text + JSON.stringify(tools)));
    const look = (file: string) => callTool("read_file", { file_path: `/huts/${hut}/${file}.md` });
    return at === 0 ? [look("log"), look("survey")] : played.helpers[hut]!;
  };
  const everything = "@modelcontextprotocol/server-everything/dist/index.js";
  const command = {
    command: process.execPath,
    args: [createRequire(import.meta.url).resolve(everything), "stdio"],
  };
  const mcp = new McpServers({ mcpServers: { everything: command }, ...settings });
  try {
    const agent = createDeepAgent({
      model: new ScriptedModel([play], { loop: true }),
      backend: diskBackend(root),
      skills: [join(root, ".agents/skills")],
      mcp,
    });
    const { messages, todos } = await agent.invoke({ messages: [{ role: "user", content: played.task }] });
    const results = messages.filter((message) => ToolMessage.isInstance(message));
    // Where all definitions are sent, there is nothing to find.
    const failed = results.filter(({ status, name }) => status === "error" && name !== "find_tools");
    expect(failed).toEqual([]);
    expect((todos ?? []).map(({ status }) => status)).toEqual(Array(4).fill("completed"));
    const report = readFileSync(join(root, "report.md"), "utf8");
    return { calls: [...calls.values()], fixed, tokens, report };
  } finally {
    await mcp.close();
  }
}

function read(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`../helpers/played/${name}.json`, import.meta.url), "utf8"));
}

function project(files: Record<string, string>): string {
  const root = join(folder, "project");
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  return root;
}

function callsOf({ turns }: Played) {
  return turns.map((calls, turn) => calls.map(([name, args], at) => callTool(name, args, `c${turn}-${at}`)));
}

function letter(parts: readonly (string | number)[], sentences: readonly string[]): string {
  const [date, ...rest] = parts.map((part) => (typeof part === "number" ? sentences[part]! : part));
  return `${date}\n\n${rest.slice(0, -1).join("\n")}\n\nYour obedient\n${rest.at(-1)}\n`;
}

function isForSummary(messages: readonly BaseMessage[]): boolean {
  return isNextTurn(messages) || messages[0]!.text.startsWith("You write the summary");
}

/** Whether a request for a summary continues the conversation. The first one of a process has the conversation as text. */
function isNextTurn(messages: readonly BaseMessage[]): boolean {
  return messages.at(-1)!.text.startsWith("This is Holdfast, not the user.");
}

/** What a request has up to the last result: reminders come after it. */
function sent(messages: readonly BaseMessage[]): string[] {
  const end = messages.findLastIndex(({ type }) => type === "tool") + 1;
  return messages.slice(0, end).map(({ type, text }) => `${type} ${text}`);
}
