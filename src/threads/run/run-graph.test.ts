import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AIMessage } from "@langchain/core/messages";
import { MemorySaver, type BaseCheckpointSaver } from "@langchain/langgraph";
import { afterAll, describe, expect, it } from "vitest";
import { runGraph, taskInput, type RunGraphOptions } from "../../../test/helpers/models/run-thread.ts";
import { sqliteSaver } from "../../storage/index.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import type { Ending } from "../events/ending.ts";
import type { RunEventBody } from "../events/events.ts";
import { createRunAgent } from "../prepare/agent.ts";
import { DEFAULT_SETTINGS, type RunSettings } from "../prepare/settings.ts";
import { Thread } from "../thread/thread.ts";

// A directory of its own: commands are watched for changes in their directory.
const dir = mkdtempSync(join(tmpdir(), "holdfast-run-"));
afterAll(() => rmSync(dir, { recursive: true }));

const SETTINGS: RunSettings = { ...DEFAULT_SETTINGS, model: "scripted" };

const REPORT = "Two holes were dug, one in front of the house and one behind it.";
const doneCall = { ...callTool("update_todos", { done: "1: by hand" }), id: "done" };

interface Driven {
  end: Ending;
  events: RunEventBody[];
  model: ScriptedModel;
}

/** Runs a script to its end, with an answer to every question. */
async function driven(
  steps: Step[],
  {
    settings = {},
    input = taskInput("Go", {}),
    checkpointer = new MemorySaver(),
    ...options
  }: {
    settings?: Partial<RunSettings>;
    input?: object | null;
    checkpointer?: BaseCheckpointSaver;
  } & Partial<Pick<RunGraphOptions, "answer" | "emit" | "signal">> = {},
): Promise<Driven> {
  const model = new ScriptedModel(steps);
  const agent = createRunAgent({
    settings: { ...SETTINGS, ...settings },
    model,
    checkpointer,
  });
  const events: RunEventBody[] = [];
  const end = await runGraph(input, {
    thread: new Thread(agent, "t"),
    model: { model, name: "scripted", source: "option" },
    emit: (event) => void events.push(event),
    signal: new AbortController().signal,
    answer: () => Promise.resolve(undefined),
    ...options,
  });
  return { end, events, model };
}

it("a stop ends a run with an unanswered question, also with an earlier question", async () => {
  const checkpointer = new MemorySaver();
  for (const input of [taskInput("Go", {}), null]) {
    const controller = new AbortController();
    const answer = (): Promise<unknown> => {
      setImmediate(() => controller.abort());
      return new Promise(() => {});
    };
    const { end } = await driven([callTool("write_todos", { todos: ["Dig"] })], {
      settings: { approve: "first" },
      signal: controller.signal,
      answer,
      input,
      checkpointer,
    });
    expect(end.outcome).toBe("interrupted");
  }
});

it("a plan is stored when it is shown, so a process killed then does not lose it", async () => {
  const saver = new MemorySaver();
  let isKilled = false;
  // What a killed process would have saved later is not saved.
  const mortal = new Proxy(saver, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== "function") return value;
      const method = value.bind(target) as (...args: unknown[]) => unknown;
      if (key !== "put" && key !== "putWrites") return method;
      return async (...args: unknown[]) => (isKilled ? args[0] : method(...args));
    },
  });
  const controller = new AbortController();
  const model = new ScriptedModel([callTool("write_todos", { todos: ["Dig", "Plant"] }), "Done.", "Done."]);
  const agent = createRunAgent({ settings: SETTINGS, model, checkpointer: mortal });
  await runGraph(taskInput("Go", {}), {
    thread: new Thread(agent, "t"),
    model: { model, name: "scripted", source: "option" },
    emit: ({ type }) => {
      isKilled ||= type === "plan-change";
      if (isKilled) controller.abort();
    },
    signal: controller.signal,
    answer: () => Promise.resolve(undefined),
  });
  expect(isKilled).toBe(true);
  const later = new Thread(createRunAgent({ settings: SETTINGS, model, checkpointer: saver }), "t");
  expect((await later.todos()).map(({ content }) => content)).toEqual(["Dig", "Plant"]);
});

it("a second run of a running thread fails, and changes nothing", async () => {
  const saver = await sqliteSaver(":memory:");
  const second: Ending[] = [];
  const run = (steps: Step[], answer: RunGraphOptions["answer"]) => {
    const model = new ScriptedModel(steps);
    const settings = { ...SETTINGS, approve: "first" as const };
    return runGraph(taskInput("Go", {}), {
      thread: new Thread(createRunAgent({ settings, model, checkpointer: saver }), "t"),
      model: { model, name: "scripted", source: "option" },
      emit: () => {},
      signal: new AbortController().signal,
      answer,
    });
  };
  const first = await run(
    [
      callTool("write_todos", { todos: ["Look"] }),
      callTool("update_todos", { done: "1", note: "by hand" }),
      "Done.",
    ],
    async () => {
      second.push(await run(["Me too."], () => Promise.resolve(undefined)));
      return { type: "approve" };
    },
  );
  expect(second).toMatchObject([{ outcome: "failed", error: expect.stringContaining('"t" is in use by') }]);
  expect(first.answer).toBe("Done.");
  await saver.acquireThread("t");
  saver.close();
});

const delegate = (todo?: string) =>
  callTool("task", {
    description: `Look ${todo ?? "around"}`,
    subagent_type: "general-purpose",
    todo_id: todo,
  });

describe("the events of a run", () => {
  it("name the agent that acts, also in a sub-agent", async () => {
    const { events, end } = await driven([
      [callTool("write_todos", { todos: ["Look"] }), delegate("1")],
      callTool("ls", { path: "/" }),
      "Nothing there.",
      "Done.",
    ]);
    const owner = expect.stringMatching(/^main\/Look 1:/) as string;
    expect(events).toContainEqual(expect.objectContaining({ type: "subagent-start", owner, todoId: "1" }));
    expect(events).toContainEqual(
      expect.objectContaining({ type: "tool-start", owner, name: "ls", about: "/" }),
    );
    expect(events).toContainEqual(
      expect.objectContaining({ type: "tool-end", owner, name: "ls", ok: true, result: "(empty)" }),
    );
    expect(events).toContainEqual(
      expect.objectContaining({ type: "model-end", owner, text: "Nothing there." }),
    );
    expect(events).toContainEqual(
      expect.objectContaining({ type: "model-end", owner: "main", text: "Done." }),
    );
    expect(end).toMatchObject({ outcome: "done", answer: "Done.", counts: { completed: 1, total: 1 } });
  });

  it("stream the main agent's text piece by piece", async () => {
    const { events } = await driven(["All is well."]);
    const pieces = events.flatMap((event) => (event.type === "text" ? event.text : []));
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.join("")).toBe("All is well.");
  });

  it("distinguish a failed tool from a successful tool", async () => {
    const { events } = await driven([callTool("read_file", { file_path: "/none" }), "So be it."]);
    expect(events).toContainEqual(
      expect.objectContaining({ type: "tool-end", ok: false, result: expect.stringContaining("/none") }),
    );
  });
});

describe("a call that failed is shown as such:", () => {
  const shell = { settings: { dir, shell: true, mode: "auto" as const } };

  it.each([
    [
      "a command with another exit code than 0",
      { command: "echo one; echo two; exit 3" },
      3,
      "[Exit code 3.]",
    ],
    [
      "a command that takes too long",
      { command: "echo one; echo two; sleep 99", timeout: 5 },
      null,
      "[Stopped at the time limit of 5 s.]",
    ],
  ])("%s", async (_, args, exitCode, words) => {
    const { events, model } = await driven([callTool("execute", args), "So be it."], shell);
    const output = `one\ntwo\n${words}`;
    const ended = events.find(({ type }) => type === "tool-end");
    expect(ended).toMatchObject({ name: "execute", args, ok: false, exitCode, output });
    // To the model the output is an answer like any other.
    expect(model.requests[1]!.messages.at(-1)).toMatchObject({ content: output, status: "success" });
  });

  it("a tool that does not exist", async () => {
    const { events, model } = await driven([callTool("fly", { to: "Oslo" }, "c1"), "So be it."]);
    const told = model.requests[1]!.messages.at(-1)!.text;
    const fly = { owner: "main", name: "fly", call: "c1", args: { to: "Oslo" } };
    expect(events).toContainEqual(expect.objectContaining({ type: "tool-start", ...fly }));
    expect(events).toContainEqual(
      expect.objectContaining({ type: "tool-end", ...fly, ok: false, output: told }),
    );
  });

  it("an unreadable call, next to others and alone", async () => {
    const broken = (id: string) => ({ type: "invalid_tool_call" as const, id, name: "ls", args: "{oops" });
    const beside = { type: "tool_call" as const, id: "c1", name: "ls", args: {} };
    const { events } = await driven([
      new AIMessage({ content: "", tool_calls: [beside], invalid_tool_calls: [broken("c2")] }),
      new AIMessage({ content: "", invalid_tool_calls: [broken("c3")] }),
      "So be it.",
    ]);
    const failed = events.filter((event) => event.type === "tool-end" && !event.ok);
    expect(failed).toMatchObject([
      { call: "c2", name: "ls", args: "{oops", result: expect.stringContaining("could not be read") },
      { call: "c3" },
    ]);
  });

  it("except a plan call whose arguments Holdfast repaired", async () => {
    const args = "{todos: ['Dig']}";
    const { events } = await driven([
      new AIMessage({
        content: "",
        invalid_tool_calls: [{ type: "invalid_tool_call", id: "c1", name: "write_todos", args }],
      }),
      callTool("update_todos", { done: "1", note: "by hand" }),
      "Done.",
    ]);
    expect(events.filter((event) => event.type === "tool-end").map(({ ok }) => ok)).toEqual([true, true]);
  });
});

it("the run reports a command's output while the command runs", async () => {
  const go = join(dir, "go");
  const told: RunEventBody[] = [];
  const command = "echo one; until [ -e go ]; do sleep 0.1; done; rm go; echo two";
  let isFirst = true;
  await driven([callTool("execute", { command }, "c1"), "So be it."], {
    settings: { dir, shell: true, mode: "auto" },
    emit: (event) => {
      told.push(event);
      if (event.type !== "tool-output" || !isFirst) return;
      isFirst = false;
      writeFileSync(go, "");
    },
  });
  const types = ["tool-start", "tool-output", "tool-end"];
  const [start, output, ...rest] = told.filter(({ type }) => types.includes(type));
  expect([start, output, rest.at(-1)]).toMatchObject([
    { type: "tool-start", call: "c1" },
    { type: "tool-output", owner: "main", call: "c1", text: "one" },
    { type: "tool-end", call: "c1", output: "one\ntwo" },
  ]);
});

describe("a run", () => {
  it("waits for consent to a command, even when settings ask only for other tools", async () => {
    const { end, events } = await driven([callTool("execute", { command: "false" })], {
      settings: { dir, shell: true, ask: ["write_file"] },
    });
    expect(end.outcome).toBe("waiting");
    expect(events.at(-1)).toMatchObject({
      type: "question",
      kind: "permission",
      call: { owner: "main", name: "execute", args: { command: "false" } },
    });
  });

  it("waits for consent to a file that other programs run, though writes are free", async () => {
    const settings = { dir, shell: false, ask: ["execute"] };
    for (const file_path of ["/.envrc", join(dir, "sub/.husky/pre-commit")]) {
      const free = callTool("write_file", { file_path: "/free.txt", content: "x" });
      const steps = [[free, callTool("write_file", { file_path, content: "x" })]];
      const { end, events } = await driven(steps, { settings });
      expect(end.outcome).toBe("waiting");
      expect(events.at(-1)).toMatchObject({ type: "question", kind: "permission" });
    }
    expect(readdirSync(dir)).toEqual(["free.txt"]);
  });

  it("is open when the run ends with open items", async () => {
    const stop = "I stop here.";
    const { end } = await driven([callTool("write_todos", { todos: ["a", "b"] }), stop, stop, stop]);
    expect(end).toMatchObject({ outcome: "open", counts: { total: 2, completed: 0 } });
  });

  it.each([
    ["was sent back", [REPORT, callTool("update_todos", { done: "1: by hand" })]],
    ["came beside the last report", [new AIMessage({ content: REPORT, tool_calls: [doneCall] })]],
  ])("has its whole answer, where that %s and the model ends with a courtesy", async (_, steps) => {
    const { end } = await driven([callTool("write_todos", { todos: ["Dig"] }), ...steps, "Done."]);
    expect(end).toMatchObject({ outcome: "done", answer: `${REPORT}\n\nDone.` });
  });

  it("has no answer while its question is open, even with text next to the plan", async () => {
    const planned = new AIMessage({
      content: REPORT,
      tool_calls: [{ id: "p1", name: "write_todos", args: { todos: ["Dig"] } }],
    });
    const { end } = await driven([planned, callTool("ask_clarification", { question: "Which?" })]);
    expect(end.outcome).toBe("waiting");
    expect(end).toMatchObject({ answer: undefined });
  });

  it("waits when no user answers its question", async () => {
    const { end, events } = await driven([callTool("ask_clarification", { question: "Which?" })]);
    expect(end.outcome).toBe("waiting");
    expect(events.at(-1)).toMatchObject({ type: "question", kind: "clarification", text: "Which?" });
  });

  it("asks the question of each sub-agent, and continues with all answers", async () => {
    const asked: string[] = [];
    const { end } = await driven(
      [
        [delegate(), delegate()],
        callTool("write_file", { file_path: "/a", content: "1" }),
        callTool("write_file", { file_path: "/b", content: "2" }),
        "Written.",
        "Written.",
        "Done.",
      ],
      {
        settings: { ask: ["write_file"] },
        answer: ({ kind, text, owner }) => {
          expect(owner).toMatch(/^main\/[^:]+:/);
          asked.push(`${kind}: ${/\/[ab]/.exec(text)?.[0]}`);
          return Promise.resolve({ type: "approve" });
        },
      },
    );
    expect(asked.toSorted()).toEqual(["permission: /a", "permission: /b"]);
    expect(end.outcome).toBe("done");
  });

  it("asks about each undecided call of a turn, in order", async () => {
    const write = (path: string) => callTool("write_file", { file_path: path, content: "x" }, path);
    const asked: string[] = [];
    const { end, events } = await driven([[write("/a"), write("/b")], "Done."], {
      settings: { ask: ["write_file"] },
      answer: ({ text }) => {
        asked.push(/\/[ab]/.exec(text)![0]);
        return Promise.resolve(asked.length === 1 ? undefined : { type: "approve" });
      },
    });
    expect(asked).toEqual(["/a", "/b", "/a"]);
    expect(end.outcome).toBe("done");
    expect(events.filter(({ type }) => type === "question")).toHaveLength(3);
  });

  it("asks about each undecided call of a sub-agent's turn at once, in order", async () => {
    const write = (path: string) => callTool("write_file", { file_path: path, content: "x" }, path);
    const asked: string[] = [];
    const { end, events } = await driven([delegate(), [write("/a"), write("/b")], "Written.", "Done."], {
      settings: { ask: ["write_file"] },
      answer: ({ text }) => {
        asked.push(/\/[ab]/.exec(text)![0]);
        return Promise.resolve(asked.length === 1 ? undefined : { type: "approve" });
      },
    });
    expect(asked).toEqual(["/a", "/b", "/a"]);
    expect(end.outcome).toBe("done");
    const kinds = events.map(({ type }) => type).filter((type) => type === "question" || type === "answer");
    expect(kinds).toEqual(["question", "question", "answer", "question", "answer"]);
  });

  it("gives the reason in one line when the run fails", async () => {
    const { end } = await driven([new Error("the cable\nis cut")]);
    expect(end).toMatchObject({
      outcome: "failed",
      error: expect.stringMatching(/^scripted failed: the cable$/),
    });
  });

  it("is neither failed nor done when the user interrupts it", async () => {
    const controller = new AbortController();
    const { end } = await driven(
      [
        () => {
          controller.abort();
          return callTool("ls", {});
        },
        "Never said.",
      ],
      { signal: controller.signal },
    );
    expect(end.outcome).toBe("interrupted");
  });
});

describe("a plan that the user edits while a run is stopped", () => {
  it.each<[string, () => BaseCheckpointSaver | Promise<BaseCheckpointSaver>]>([
    ["LangGraph's saver", () => new MemorySaver()],
    ["the thread store", () => sqliteSaver(":memory:")],
  ])("reaches the model in the middle of a turn, and finished calls stay (%s)", async (_, saver) => {
    const controller = new AbortController();
    const model = new ScriptedModel([
      callTool("write_todos", { todos: ["Dig", "Plant"] }),
      [callTool("write_file", { file_path: "/a", content: "1" }), delegate()],
      () => {
        controller.abort();
        return callTool("ls", {});
      },
      "Looked.",
      callTool("update_todos", { done: "1,2", note: "by hand" }),
      "Done.",
    ]);
    const agent = createRunAgent({ settings: SETTINGS, model, checkpointer: await saver() });
    const events: RunEventBody[] = [];
    const run = (input: object | null, signal: AbortSignal): Promise<Ending> =>
      runGraph(input, {
        thread: new Thread(agent, "t"),
        model: { model, name: "scripted", source: "option" },
        emit: (event) => void events.push(event),
        signal,
        answer: () => Promise.resolve(undefined),
      });
    expect(await run(taskInput("Go", {}), controller.signal)).toMatchObject({ outcome: "interrupted" });
    const plan = await new Thread(agent, "t").todos();
    await new Thread(agent, "t").writePlan({ todos: [plan[0], { ...plan[1], content: "Plant kelp" }] });
    expect(await new Thread(agent, "t").content()).toMatchObject({ files: { "/a": "1" } });
    const { signal } = new AbortController();
    expect(await run(null, signal)).toMatchObject({ outcome: "done", counts: { completed: 2 } });
    // The sub-agent that was stopped goes on, and then the model hears of it all.
    const told = JSON.stringify(model.requests[4]?.messages);
    expect(told).toContain("Plant kelp");
    expect(told).toContain("/a");
    expect(told).toContain("Looked.");
    expect((await new Thread(agent, "t").todos()).map(({ content }) => content)).toEqual([
      "Dig",
      "Plant kelp",
    ]);
    const written = events.filter((event) => event.type === "tool-end" && event.name === "write_file");
    expect(written).toHaveLength(1);
  });
});
