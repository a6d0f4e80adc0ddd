import { existsSync } from "node:fs";
import { join } from "node:path";
import type { BaseMessage } from "@langchain/core/messages";
import { expect, it } from "vitest";
import { markOf, type RecordedDecision } from "../../src/marks.ts";
import type { ThreadStore } from "../../src/storage/index.ts";
import { callTool, type ModelRequestRecord } from "../../src/testing/index.ts";
import type { RunSettings } from "../../src/threads/prepare/settings.ts";

type Call = ReturnType<typeof callTool>;

/** A task whose questions are answered in order. */
export interface AskedTask {
  /** Answers of the model, turn by turn. */
  replies: readonly (string | Call | Call[])[];
  settings: Partial<Pick<RunSettings, "ask" | "approve">>;
  /** In the words of a command line: `approve`, `reject: reason`, or any; `always` for a yes for good. */
  answers: readonly string[];
}

/** A surface where a person answers what a scripted model asks. */
export interface QuestionSurface {
  /** The directory of the project. */
  dir: string;
  /** Plays a task to its end, with every answer. Returns the texts that the model was sent, call by call. */
  play: (task: AskedTask) => Promise<string[]>;
  /** The store of the thread that was played. */
  store: () => ThreadStore | Promise<ThreadStore>;
}

const write = (name: string) => callTool("write_file", { file_path: `/${name}`, content: "new" });
const PLAN = callTool("write_todos", { todos: ["Read", "Build"] });
const ASK = callTool("ask_clarification", { question: "Which colour?" });

interface Row extends AskedTask {
  /** Words that the model is sent in the end. */
  told: string[];
  files?: string[];
  /** The decisions about calls and plans that stay on record, in their order. */
  recorded?: RecordedDecision[];
}

const ROWS: Record<string, Row> = {
  "each call is decided alone: one that is refused does nothing, and the model hears why": {
    settings: { ask: ["write_file"] },
    replies: [[write("a.txt"), write("b.txt"), write("c.txt")], "Written."],
    answers: ["approve", "reject: not b", "approve"],
    told: ["The user does not allow this write_file call: not b"],
    files: ["a.txt", "c.txt"],
    recorded: [{ type: "approve" }, { type: "reject", message: "not b" }, { type: "approve" }],
  },
  "words answer a question, a plan that is refused is planned anew, and one that is approved is worked on": {
    settings: { approve: "first" },
    replies: [ASK, PLAN, PLAN, callTool("update_todos", { done: "1,2", note: "by hand" }), "Built."],
    answers: ["green", "reject: too long", "approve"],
    told: ["The user answers: green", "too long", "2/2"],
    recorded: [{ type: "reject", message: "too long" }, { type: "approve" }],
  },
};

const ALWAYS: Record<string, Row> = {
  "a yes for good is on record as a yes to the call that asked": {
    settings: {},
    replies: [write("a.txt"), write("b.txt"), "Written."],
    answers: ["always"],
    told: [],
    files: ["a.txt", "b.txt"],
    recorded: [{ type: "approve" }],
  },
};

/** Questions to a person and their answers, for every surface that puts them. `hasAlways`: it offers a yes for good. */
export function questionContract(
  open: () => Promise<QuestionSurface> | QuestionSurface,
  { hasAlways = false } = {},
): void {
  const rows = Object.entries({ ...ROWS, ...(hasAlways && ALWAYS) });
  it.each(rows)("%s", async (_name, { told, files = [], recorded = [], ...task }) => {
    const { dir, play, store } = await open();
    const calls = await play(task);
    expect(calls).toHaveLength(task.replies.length);
    for (const words of told) expect(calls.at(-1)).toContain(words);
    const names = ["a.txt", "b.txt", "c.txt"];
    expect(names.filter((name) => existsSync(join(dir, name)))).toEqual(files);
    expect(await decisionsIn(await store())).toEqual(recorded);
  });
}

/** The decisions that a store has on record for its newest thread, in the order of the calls. */
export async function decisionsIn(store: ThreadStore): Promise<RecordedDecision[]> {
  const [thread] = await store.listThreads({ limit: 1 });
  const saved = await store.getTuple({ configurable: { thread_id: thread!.id } });
  const messages = saved!.checkpoint.channel_values["messages"] as BaseMessage[];
  return messages.flatMap((message) => markOf(message, "user_decided") ?? []);
}

/** An answer as a program gives it. */
export function decisionOf(answer: string): string | { type: string; message?: string } {
  if (answer === "approve") return { type: "approve" };
  const reason = reasonIn(answer);
  return reason === undefined ? answer : { type: "reject", message: reason };
}

/** The reason of a refusal. */
export const reasonIn = (answer: string): string | undefined => /^reject: (.*)$/.exec(answer)?.[1];

/** A request as text. */
export const textOf = ({ messages }: ModelRequestRecord): string =>
  messages.map(({ text }) => text).join("\n");
