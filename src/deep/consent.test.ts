import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { Command, MemorySaver } from "@langchain/langgraph";
import {
  humanInTheLoopMiddleware,
  tool,
  toolRetryMiddleware,
  type AnyAgentMiddleware,
  type HITLRequest,
} from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { diskBackend } from "../files/index.ts";
import { clarificationMiddleware } from "../middleware/clarification/index.ts";
import type { ConsentRequest } from "../middleware/consent/index.ts";
import { callTool, ScriptedModel, type Step } from "../testing/index.ts";
import { createDeepAgent } from "./index.ts";
import type { DeepAgentOptions } from "./options.ts";

const go = { messages: [new HumanMessage("go")] };
const config = { configurable: { thread_id: "t" } };
const write = (path: string, content: string, id: string) =>
  callTool("write_file", { file_path: path, content }, id);

interface Open {
  id: string;
  value: ConsentRequest;
}

interface Result {
  files: Record<string, string>;
  todos: { content: string; status: string }[];
  messages: BaseMessage[];
  __interrupt__?: Open[];
}

function agentOf(steps: Step[], options: Omit<DeepAgentOptions, "contextSchema"> = {}) {
  const model = new ScriptedModel(steps);
  const agent = createDeepAgent({
    model,
    checkpointer: new MemorySaver(),
    interruptOn: { write_file: true },
    plan: { verify: false },
    ...options,
  });
  const run = async (input: unknown, more = {}): Promise<Result & { open: Open[] }> => {
    const result = (await agent.invoke(input, { ...config, ...more })) as unknown as Result;
    return { ...result, open: result.__interrupt__ ?? [] };
  };
  return { model, run, resume: (resume: unknown, more = {}) => run(new Command({ resume }), more) };
}

const results = (messages: readonly BaseMessage[]): string[] =>
  messages.filter((message) => message.getType() === "tool").map((message) => message.text);

describe("consent in a deep agent", () => {
  it("keeps the plan and files of the other calls when the user rejects one call", async () => {
    const { model, run, resume } = agentOf([
      callTool("write_todos", { todos: ["A", "B"] }),
      [
        callTool("update_todos", { done: "1" }, "u"),
        write("/yes.md", "1", "yes"),
        write("/no.md", "2", "no"),
      ],
      callTool("update_todos", { cancel: "2" }),
      "ok",
    ]);
    const { open } = await run(go);
    const decisions = { yes: { type: "approve" }, no: { type: "reject", message: "not that one" } };
    const { files, todos } = await resume(
      Object.fromEntries(open.map(({ id, value }) => [id, decisions[value.call as "yes" | "no"]])),
    );
    expect(files).toEqual({ "/yes.md": "1" });
    expect(todos.map(({ status }) => status)).toEqual(["completed", "cancelled"]);
    expect(results(model.requests[2]!.messages)).toEqual([
      expect.stringContaining("Plan set."),
      "1/2 done; now 2.",
      "Created /yes.md.",
      "The user does not allow this write_file call: not that one",
    ]);
  });

  it("reports the user's edited arguments with the result of a call that changes state", async () => {
    const { model, run, resume } = agentOf([write("/a.md", "x", "w"), "ok"], { plan: false });
    await run(go);
    const wrong = await resume({ type: "edit", args: { file_path: "/b.md" } });
    expect(wrong.open[0]!.value.error).toContain("These arguments do not fit write_file: content");
    const { files } = await resume({ type: "edit", args: { file_path: "/b.md", content: "x".repeat(900) } });
    expect(Object.keys(files)).toEqual(["/b.md"]);
    const [said] = results(model.requests[1]!.messages);
    expect(said).toMatch(
      /^\[The user changed this call before it ran: file_path is "\/b\.md"; content is "x+…\]\nCreated \/b\.md\.$/,
    );
    expect(said!.length).toBeLessThan(400);
  });

  it("names the sub-agent that asks, and keeps the results of its other calls", async () => {
    const { model, run, resume } = agentOf([
      callTool("task", { description: "go", subagent_type: "general-purpose" }, "t1"),
      [write("/a", "1", "a"), write("/b", "2", "b"), callTool("ls", {}, "ls")],
      "Written.",
      "ok",
    ]);
    const decisions: Record<string, unknown> = { a: { type: "reject" }, b: { type: "approve" } };
    let result = await run(go);
    const asked: string[] = [];
    // LangGraph shows one question of a sub-agent at a time.
    while (result.open.length > 0) {
      const [{ id, value }] = result.open as [Open];
      expect(value.owner).toBe("main/go:t1");
      asked.push(value.call);
      result = await resume({ [id]: decisions[value.call] });
    }
    expect(asked.toSorted()).toEqual(["a", "b"]);
    expect(result.files).toEqual({ "/b": "2" });
    expect(results(model.requests[2]!.messages)).toEqual([
      expect.stringContaining("does not allow"),
      "Created /b.",
      "/b",
    ]);
  });

  it("does not extend approval of a sub-agent's shown call to its hidden call", async () => {
    const { run, resume } = agentOf([
      callTool("task", { description: "go", subagent_type: "general-purpose" }, "t1"),
      [write("/a", "1", "a"), write("/b", "2", "b")],
      "Written.",
      "ok",
    ]);
    await run(go);
    const { open, files } = await resume({ type: "approve" });
    expect(files).toEqual({});
    expect(open[0]!.value.action_requests).toHaveLength(2);
    const approve = { type: "approve" };
    expect((await resume({ decisions: [approve, approve] })).files).toEqual({ "/a": "1", "/b": "2" });
  });

  it("is not asked for where a question to the user holds the call back", async () => {
    const ask = callTool("ask_clarification", { question: "Which?" }, "q");
    const { run, resume } = agentOf([[write("/a", "1", "a"), ask], "ok"], {
      plan: false,
      middleware: [clarificationMiddleware() as AnyAgentMiddleware],
    });
    const { open } = await run(go);
    expect(open.map(({ value }) => value.type)).toEqual(["clarification"]);
    expect((await resume("left")).files).toEqual({});
  });

  it("is requested once for a call that is retried", async () => {
    let tries = 0;
    const flaky = tool(
      () => {
        if (++tries < 3) throw new Error("503");
        return "sent";
      },
      { name: "send", description: "s", schema: z.object({}) },
    );
    const { model, run, resume } = agentOf([callTool("send"), "ok"], {
      plan: false,
      tools: [flaky],
      interruptOn: { send: true },
      middleware: [toolRetryMiddleware({ maxRetries: 3, initialDelayMs: 1 })],
    });
    expect((await run(go)).open).toHaveLength(1);
    expect((await resume({ type: "approve" })).open).toEqual([]);
    expect(results(model.requests[1]!.messages)).toEqual(["sent"]);
  });

  it("is requested again before an interrupted call runs a second time", async () => {
    const controller = new AbortController();
    let runs = 0;
    const slow = tool(
      () => {
        runs += 1;
        if (runs === 1) controller.abort();
        if (runs === 1) throw new Error("cut short");
        return "sent";
      },
      { name: "send", description: "s", schema: z.object({}) },
    );
    const { run, resume } = agentOf([[callTool("send", {}, "s"), callTool("ls", {}, "l")], "ok"], {
      plan: false,
      tools: [slow],
      interruptOn: { send: true },
    });
    const { open } = await run(go);
    const answer = { [open[0]!.id]: { type: "approve" } };
    await expect(resume(answer, { signal: controller.signal })).rejects.toThrow(/abort/i);
    const again = await run(null);
    expect(again.open.map(({ value }) => value.call)).toEqual(["s"]);
    expect(runs).toBe(1);
    expect((await resume(answer)).open).toEqual([]);
    expect(runs).toBe(2);
  });

  it("uses LangChain's middleware when the user replaces Holdfast's with it", async () => {
    const make = humanInTheLoopMiddleware as unknown as (options: object) => AnyAgentMiddleware;
    const theirs = make({ interruptOn: { write_file: { allowedDecisions: ["approve"] } } });
    const { run, resume } = agentOf([write("/a", "1", "a"), "ok"], { plan: false, middleware: [theirs] });
    const { open } = await run(go);
    expect(open).toHaveLength(1);
    expect(open[0]!.value.type).toBeUndefined();
    expect((open[0]!.value as unknown as HITLRequest).actionRequests).toHaveLength(1);
    expect((await resume({ decisions: [{ type: "approve" }] })).files).toEqual({ "/a": "1" });
  });

  it("is not assumed by a plan call after an open or rejected plan call", async () => {
    const { model, run, resume } = agentOf(
      [[callTool("write_todos", { todos: ["A", "B"] }), callTool("update_todos", { done: "1" })], "ok"],
      { interruptOn: { write_todos: true } },
    );
    const { open } = await run(go);
    expect(open).toHaveLength(1);
    const { todos } = await resume({ type: "reject", message: "no plan" });
    expect(todos).toEqual([]);
    expect(results(model.requests[1]!.messages)).toEqual([
      "The user does not allow this write_todos call: no plan",
      expect.stringMatching(/^Error: .*\bThe plan is unchanged\.$/s),
    ]);
  });

  it("to two plan calls of one turn applies both", async () => {
    const { run, resume } = agentOf(
      [
        callTool("write_todos", { todos: ["A"] }, "w"),
        [callTool("update_todos", { add: "B" }, "b"), callTool("update_todos", { add: "C" }, "c")],
        "I stop.",
        "I stop.",
        "I stop.",
      ],
      { interruptOn: { update_todos: true } },
    );
    await run(go);
    const approve = { type: "approve" };
    const { todos } = await resume({ decisions: [approve, approve] });
    expect(todos.map(({ content }) => content).toSorted()).toEqual(["A", "B", "C"]);
  });

  it("is not requested for a call that can only fail", async () => {
    const folder = mkdtempSync(join(tmpdir(), "holdfast-foreseen-"));
    for (const name of ["a.txt", "b.txt"]) writeFileSync(join(folder, name), "one");
    const edit = (file_path: string, old_string: string, id: string) =>
      callTool("edit_file", { file_path, old_string, new_string: "two" }, id);
    const options: Omit<DeepAgentOptions, "contextSchema"> = {
      backend: diskBackend(folder),
      permissions: [{ effect: "deny", operations: ["write"], paths: "/secret" }],
      interruptOn: { write_file: true, edit_file: true, delete_file: true },
    };
    try {
      const failing = [
        edit("/a.txt", "three", "text"),
        edit("/missing.txt", "one", "file"),
        write("/secret/key", "1", "denied"),
        write("/b.txt", "unseen", "held"),
        callTool("delete_file", { file_path: "/missing.txt" }, "gone"),
        callTool("edit_file", { file_path: "/a.txt" }, "arguments"),
      ];
      const { run, model } = agentOf([...failing, edit("/a.txt", "one", "good"), "ok"], options);
      const { open } = await run(go);
      expect(open.map(({ value }) => value.call)).toEqual(["good"]);
      expect(
        model.requests.slice(1).map(({ messages }) => messages.findLast(({ type }) => type === "tool")!.text),
      ).toEqual([
        expect.stringContaining("not found"),
        expect.stringContaining("missing.txt"),
        expect.stringContaining("rule 1"),
        expect.stringContaining("was not written"),
        expect.stringContaining("missing.txt"),
        expect.stringContaining("old_string"),
      ]);
      expect(readFileSync(join(folder, "a.txt"), "utf8")).toBe("one");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("covers a call that an earlier call may enable, and the rest when one call fails", async () => {
    const next = callTool("edit_file", { file_path: "/a.md", old_string: "1", new_string: "2" }, "next");
    const { run, resume } = agentOf([[write("/a.md", "1", "first"), next], "ok"], {
      interruptOn: { write_file: true, edit_file: true },
    });
    const { open } = await run(go);
    expect(open.map(({ value }) => value.call).toSorted()).toEqual(["first", "next"]);
    const { files } = await resume(Object.fromEntries(open.map(({ id }) => [id, { type: "approve" }])));
    expect(files).toEqual({ "/a.md": "2" });

    const known = agentOf([callTool("delete_file", { file_path: "/a.md" }, "known")], {
      interruptOn: { delete_file: true },
    });
    expect((await known.run({ ...go, files: { "/a.md": "1" } })).open).toHaveLength(1);

    const bad = callTool("edit_file", { file_path: "/no.md", old_string: "1", new_string: "2" }, "bad");
    const two = agentOf([[bad, write("/b.md", "1", "good")], "ok"], {
      interruptOn: { write_file: true, edit_file: true },
    });
    const asked = await two.run(go);
    expect(asked.open.map(({ value }) => value.call)).toEqual(["good"]);
    // As LangChain's user interfaces answer: a list of decisions, one for each that was shown.
    const ended = await two.resume({ decisions: [{ type: "approve" }] });
    expect(ended.files).toEqual({ "/b.md": "1" });
  });

  it("asks about all calls of a sub-agent's turn in one interrupt, answered by ids", async () => {
    const task = callTool("task", { description: "Write", subagent_type: "general-purpose" });
    const both = [write("/a", "1", "a"), write("/b", "2", "b")];
    const { run, resume } = agentOf([task, both, "Written.", "ok"]);
    const [first, ...others] = (await run(go)).open;
    const { id, value } = first!;
    const { beside = [] } = value as ConsentRequest & { beside?: Open[] };
    expect([value.call, ...beside.map((one) => one.value.call), ...others]).toEqual(["a", "b"]);
    const { files } = await resume({ [id]: { type: "approve" }, [beside[0]!.id]: { type: "reject" } });
    expect(files).toEqual({ "/a": "1" });
  });

  it("can be left out like every default", async () => {
    const { run } = agentOf([write("/a", "1", "a"), "ok"], {
      plan: false,
      without: ["HumanInTheLoopMiddleware"],
    });
    expect((await run(go)).files).toEqual({ "/a": "1" });
  });
});
