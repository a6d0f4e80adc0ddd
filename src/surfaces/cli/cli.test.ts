import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LLMock, type ChatCompletionRequest, type FixtureResponse } from "@copilotkit/aimock";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { questionContract } from "../../../test/contracts/questions.ts";
import { inPipes } from "../../../test/helpers/terminal/piped-command.ts";
import { createDeepAgent } from "../../deep/index.ts";
import { sqliteSaver } from "../../storage/index.ts";
import { ScriptedModel } from "../../testing/index.ts";
import { RUN_EVENT, type RunEvent } from "../../threads/events/events.ts";

const server = new LLMock({ port: 0, host: "127.0.0.1" });
let script: FixtureResponse[] = [];
let home: string;

beforeAll(async () => {
  server.on(
    { toolName: "ls" },
    () => script.shift() ?? { error: { message: "The script is over." }, status: 500 },
  );
  await server.start();
});
afterAll(async () => {
  await server.stop();
});
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "holdfast-cli-"));
  server.clearRequests();
});
afterEach(() => {
  rmSync(home, { recursive: true, force: true });
});

const call = (name: string, args: object): FixtureResponse => ({
  toolCalls: [{ name, arguments: JSON.stringify(args) }],
});
const PLAN = call("write_todos", { todos: ["Dig", "Plant"] });
const say = (content: string): FixtureResponse => ({ content });

/** Runs a command on a terminal that is none, with the mock server as OpenAI. */
const holdfast = (
  args: readonly string[],
  { input = "", env = {} }: { input?: string; env?: Record<string, string> } = {},
) =>
  inPipes(args, {
    input,
    env: {
      HOME: home,
      HOLDFAST_STATE: join(home, "threads.db"),
      HOLDFAST_MODEL: "openai:gpt-5.1",
      OPENAI_API_KEY: "sk-test",
      OPENAI_BASE_URL: `${server.url}/v1`,
      ...env,
    },
    cwd: home,
  });

const requests = (): ChatCompletionRequest[] =>
  server.getRequests().map(({ body }) => body as ChatCompletionRequest);

describe("holdfast run", () => {
  it("works through a plan with a real client and says so in plain lines", async () => {
    script = [
      PLAN,
      call("write_file", { file_path: "/a.md", content: "x" }),
      call("update_todos", { done: "1,2", note: "by hand" }),
      say("Planted."),
    ];
    const { code, out, err } = await holdfast(["run", "--thread", "garden", "A garden"]);
    expect(err).toBe("");
    expect(out.split("\n").slice(0, 3)).toEqual([
      "started garden with openai:gpt-5.1",
      "0/2 [>] 1 Dig",
      "0/2 [ ] 2 Plant",
    ]);
    expect(out).toContain("✓ write a.md 1 line\n");
    expect(out).toContain("Planted.\nDone (2/2, ");
    expect(code).toBe(0);
  });

  it("neither prints nor counts a plan that an earlier run of the thread has finished", async () => {
    script = [PLAN, call("update_todos", { done: "1,2", note: "by hand" }), say("Planted."), say("Hello.")];
    await holdfast(["run", "--thread", "garden", "A garden"]);
    const { out } = await holdfast(["run", "--thread", "garden", "Say hello"]);
    expect(out).toMatch(/^resumed garden .*\nHello\.\nDone \(0:\d\d, [^/]*\)\n$/);
  });

  it("reads the task from standard input", async () => {
    script = [say("Hello.")];
    const { code, out } = await holdfast(["run", "--quiet"], { input: "Say hello\n" });
    expect({ code, out }).toEqual({ code: 0, out: "Hello.\n" });
    expect(requests()[0]!.messages.at(-1)).toMatchObject({ role: "user", content: "Say hello" });
  });

  it("prints events that the published schema allows, and nothing else, with --json", async () => {
    script = [PLAN, call("update_todos", { done: "1,2", note: "by hand" }), say("Planted.")];
    const { out } = await holdfast(["run", "--json", "A garden"], { env: { HOLDFAST_PRICES: "3,15" } });
    const events = eventsOf(out);
    expect(events.map(({ type }) => type)).toEqual(
      expect.arrayContaining([
        "run-start",
        "plan-change",
        "tool-start",
        "tool-end",
        "text",
        "model-end",
        "run-end",
      ]),
    );
    expect(events.at(-1)).toMatchObject({ outcome: "done", exitCode: 0, answer: "Planted." });
    expect(events.at(-1)).toHaveProperty("cost");
  });

  it("works on the files of a directory", async () => {
    script = [call("write_file", { file_path: "/notes.md", content: "seeds" }), say("Written.")];
    expect(await holdfast(["run", "--dir", ".", "Note it"])).toMatchObject({ code: 0 });
    expect(readFileSync(join(home, "notes.md"), "utf8")).toBe("seeds");
  });

  it("leaves planning out with --no-plan", async () => {
    script = [say("Hello.")];
    await holdfast(["run", "--no-plan", "Say hello"]);
    const tools = (requests()[0]!.tools ?? []).map((tool) => tool.function.name);
    expect(tools).toContain("ls");
    expect(tools).not.toContain("write_todos");
  });

  it("takes the tools and rules of a preset", async () => {
    script = [call("todo", { items: [{ id: "1", text: "Dig", status: "completed" }] }), say("Dug.")];
    const { code, out } = await holdfast(["run", "--preset", "checklist", "Dig"]);
    expect(out).toContain("1/1 [x] 1 Dig");
    expect(code).toBe(0);
  });

  it("stops after --max-turns with exit code 3 and continues with resume", async () => {
    script = [PLAN, call("ls", {}), call("ls", {})];
    const stopped = await holdfast(["run", "--max-turns", "2", "--thread", "t", "A garden"]);
    expect(stopped.code).toBe(3);
    expect(stopped.out).toContain("Stopped after 2 turns, as asked (0/2");
    expect(stopped.out).toContain("Continue with: holdfast resume t");

    script = [call("update_todos", { done: "1,2", note: "by hand" }), say("Planted.")];
    const again = await holdfast(["resume", "t", "--max-turns", "1"]);
    expect(again).toMatchObject({ code: 3, out: expect.stringContaining("Stopped after 1 turn, as asked") });
    script = [say("Planted.")];
    const resumed = await holdfast(["resume", "t"]);
    expect(resumed.out).toContain("resumed t with openai:gpt-5.1");
    expect(resumed.out).toContain("Done (2/2");
    expect(resumed.code).toBe(0);
  });

  it("says that it waits for a busy server, in plain lines and with --json", async () => {
    const busy = { error: { message: "Slow down." }, status: 429, retryAfter: 0 };
    script = [busy, say("Hello."), busy, say("Hello.")];
    const { out } = await holdfast(["run", "Say hello"]);
    expect(out).toContain("retrying in 0 s (too many requests, 429; the server asks to wait)\nHello.\n");
    const events = eventsOf((await holdfast(["run", "--json", "Say hello"])).out);
    expect(events.map(({ type }) => type).slice(0, 4)).toEqual([
      "run-start",
      "model-start",
      "model-retry",
      "text",
    ]);
    expect(events[2]).toMatchObject({ owner: "main", seconds: 0, reason: expect.stringContaining("429") });
  });

  it("gives up a silent server after --timeout, and says how to wait longer", async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const { port } = silent.address() as AddressInfo;
    const env = { OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`, HOLDFAST_TIMEOUT: "0.05" };
    for (const [flags, limit] of [
      [[], "0.05"],
      [["--timeout", "1"], "1"],
    ] as const) {
      const { code, out } = await holdfast(["run", ...flags, "Say hello"], { env });
      expect(code).toBe(1);
      expect(out).toContain(`was silent for ${limit} s. Try again, or wait longer with --timeout`);
    }
    silent.close();
    silent.closeAllConnections();
  });

  it("shows the end of a failed command's output", async () => {
    const command = "for i in 1 2 3 4 5 6 7; do echo line $i; done; exit 3";
    script = [call("execute", { command }), say("So be it.")];
    const { out } = await holdfast(["run", "--dir", ".", "--shell", "--yes", "Try"]);
    expect(out).toContain(`✗ $ ${command} exit 3\n    line 3\n`);
    expect(out).toContain("    line 7\nSo be it.\n");
  });

  it("a file that the model named by its address is shown by its path in the directory", async () => {
    script = [call("read_file", { file_path: join(realpathSync(home), "b/c.md") }), say("Not there.")];
    const { out } = await holdfast(["run", "--dir", ".", "Look"]);
    expect(out).toMatch(/^✗ read b\/c\.md /m);
  });

  it("explains a model server error in one line, keeps the thread, and continues", async () => {
    script = [PLAN, { error: { message: "Wrong key", type: "invalid_request_error" }, status: 401 }];
    const failed = await holdfast(["run", "--thread", "t", "A garden"]);
    expect(failed.out).toMatch(
      /^Failed: OpenAI did not accept the API key \(401\): check OPENAI_API_KEY\. \(/m,
    );
    expect(failed.code).toBe(1);
    script = [call("update_todos", { done: "1,2", note: "by hand" }), say("Planted.")];
    expect(await holdfast(["resume"])).toMatchObject({ code: 0 });
  });

  it("stops when its --budget is used up, names the budget, and continues with another", async () => {
    const used = (response: FixtureResponse) => ({
      ...response,
      usage: { prompt_tokens: 900, completion_tokens: 100, total_tokens: 1000 },
    });
    script = [used(PLAN), used(call("ls", {})), used(call("ls", {}))];
    const stopped = await holdfast(["run", "--budget", "tokens=2000", "--thread", "t", "A garden"]);
    expect(stopped.code).toBe(3);
    expect(stopped.out).toContain("Stopped after 2,000 tokens, the most for one run (0/2");
    script = [used(call("ls", {}))];
    const again = await holdfast(["resume", "t", "--json", "--budget", "cost=0.001"], {
      env: { HOLDFAST_PRICES: "3,15" },
    });
    expect(eventsOf(again.out).at(-1)).toMatchObject({ outcome: "open", reason: "cost-limit" });
    script = [call("update_todos", { done: "1,2", note: "by hand" }), say("Planted.")];
    expect(await holdfast(["resume", "t", "--budget", "minutes=5"])).toMatchObject({ code: 0 });
  });

  it("lets sub-agents work in the background", async () => {
    const job = { description: "Count the beds", subagent_type: "general-purpose", background: true };
    script = [call("task", job), say("Three beds."), say("Three beds."), say("Three beds.")];
    const { code, out } = await holdfast(["run", "--background", "--no-plan", "A garden"]);
    expect(code).toBe(0);
    expect(out).toContain("Three beds.");
    expect(JSON.stringify(requests().at(-1)!.messages)).toContain("The background task b1");
  });

  it("stops after --max-turns also without a plan, and continues", async () => {
    script = [call("ls", {})];
    const stopped = await holdfast(["run", "--no-plan", "--max-turns", "1", "--thread", "t", "Go"]);
    expect(stopped.code).toBe(3);
    script = [say("Done.")];
    expect(await holdfast(["resume", "t"])).toMatchObject({ code: 0 });
  });

  it("stops after --max-turns also in a sub-agent, which continues where it stopped", async () => {
    script = [
      call("task", { description: "Look around", subagent_type: "general-purpose" }),
      call("ls", { path: "/beds" }),
    ];
    const stopped = await holdfast(["run", "--max-turns", "2", "--thread", "t", "--json", "A garden"]);
    expect(stopped.code).toBe(3);
    expect(eventsOf(stopped.out).at(-1)).toMatchObject({
      outcome: "open",
      answer: "Stopped after 2 turns, as asked.",
      resume: "holdfast resume t",
    });
    expect((await holdfast(["threads"])).out).toMatch(/^t +stopped /m);
    expect(requests()).toHaveLength(2);

    script = [say("Three beds."), say("Done.")];
    const resumed = await holdfast(["resume", "--quiet"]);
    expect(resumed).toMatchObject({ code: 0, out: "Done.\n" });
    expect(JSON.stringify(requests()[2]!.messages)).toContain("/beds");
    expect(JSON.stringify(requests()[3]!.messages)).toContain("Three beds.");
  });

  it("prints the command to continue with shell quoting", async () => {
    script = [call("ls", {})];
    const state = ["--state", "my threads; rm x"];
    const { out } = await holdfast(["run", "--max-turns", "1", "--thread", "t", ...state, "Go"]);
    expect(out).toContain("Continue with: holdfast resume --state 'my threads; rm x' t\n");
  });

  it("gives a finished thread another task", async () => {
    script = [say("Hello.")];
    await holdfast(["run", "--thread", "t", "Say hello"]);
    script = [say("Goodbye.")];
    const { code, out } = await holdfast(["run", "--thread", "t", "--quiet", "Say goodbye"]);
    expect({ code, out }).toEqual({ code: 0, out: "Goodbye.\n" });
    expect(
      requests()
        .at(-1)!
        .messages.map(({ content }) => content),
    ).toContain("Say hello");
  });

  it("works on in the directory of a finished thread, also when it was moved", async () => {
    mkdirSync(join(home, "work"));
    script = [say("Hello.")];
    await holdfast(["run", "--dir", "work", "--thread", "t", "Say hello"]);
    script = [call("write_file", { file_path: "/a.md", content: "x" })];
    const stopped = await holdfast(["run", "--thread", "t", "--max-turns", "1", "Note it"]);
    expect(stopped.code).toBe(3);
    expect(readFileSync(join(home, "work/a.md"), "utf8")).toBe("x");

    renameSync(join(home, "work"), join(home, "moved"));
    const gone = await holdfast(["resume", "t"]);
    expect(gone).toMatchObject({ code: 2, out: "" });
    expect(gone.err).toContain("work is not there");
    script = [call("write_file", { file_path: "/b.md", content: "y" }), say("Done.")];
    const found = await holdfast(["resume", "t", "--dir", "moved", "--max-turns", "9"]);
    expect(found.code).toBe(0);
    expect(readFileSync(join(home, "moved/b.md"), "utf8")).toBe("y");
  });

  it("leaves threads of other programs alone", async () => {
    script = [PLAN, say("I stop."), say("I stop."), say("I stop.")];
    await holdfast(["run", "--thread", "ours", "A garden"]);
    const saver = await sqliteSaver(join(home, "threads.db"));
    const agent = createDeepAgent({ model: new ScriptedModel([new Error("cut")]), checkpointer: saver });
    const config = { configurable: { thread_id: "foreign" } };
    await agent.invoke({ messages: [{ role: "user", content: "x" }] }, config).catch(() => {});
    saver.close();
    expect((await holdfast(["resume", "foreign"])).err).toContain("does not belong to Holdfast's own agent");
    // Anybody may look at it.
    expect((await holdfast(["show", "foreign"])).out).toContain("has no plan");
    expect((await holdfast(["show", "foreign", "--transcript"])).out).toContain("## You\n\nx");
    expect((await holdfast(["export", "foreign", "-"])).out).toContain("<!doctype html>");
    expect((await holdfast(["plan", "edit", "foreign"])).err).toContain("continue it with its program");
    script = [call("update_todos", { done: "1,2", note: "by hand" }), say("Planted.")];
    expect((await holdfast(["resume"])).out).toContain("resumed ours");
  });

  it.each([
    { args: ["-p", "Say hello"], input: "" },
    { args: [], input: "Say hello\n" },
  ])("is what -p and a piped task mean: $args", async ({ args, input }) => {
    script = [say("Hello.")];
    expect(await holdfast(args, { input })).toMatchObject({
      code: 0,
      out: expect.stringContaining("Hello.") as string,
    });
    expect(JSON.stringify(requests().at(-1))).toContain("Say hello");
  });

  it("uses offline when no model is configured, and says so", async () => {
    const env = { HOLDFAST_MODEL: "", OPENAI_API_KEY: "", OPENAI_BASE_URL: "" };
    const { code, out } = await holdfast(["run", "Write a poem"], { env });
    expect(out).toMatch(/^started \S+ with offline$/m);
    expect(out).toMatch(/^No model is configured, so "offline" is used/m);
    expect(out).toContain("HOLDFAST_MODEL");
    expect(out).toContain("Failed: offline declined the task.");
    expect(out).not.toContain("Go on with");
    expect(code).toBe(1);
    expect(requests()).toEqual([]);
  });
});

describe("a question to the user in a non-interactive run", () => {
  questionContract(() => ({
    dir: home,
    store: async () => {
      const saver = await sqliteSaver(join(home, "threads.db"));
      onTestFinished(() => saver.close());
      return saver;
    },
    play: async ({ replies, settings: { ask = [], approve }, answers }) => {
      script = replies.map((reply) =>
        typeof reply === "string"
          ? say(reply)
          : {
              toolCalls: [reply].flat().map((one) => {
                return { name: one.name, arguments: JSON.stringify(one.args) };
              }),
            },
      );
      const flags = [...ask.flatMap((name) => ["--ask", name]), ...(approve ? ["--approve", approve] : [])];
      let { code } = await holdfast(["run", "--dir", ".", ...flags, "--thread", "t", "Go"]);
      for (const answer of answers) {
        if (code === 3) ({ code } = await holdfast(["resume", "t", "--answer", answer]));
      }
      return requests().map(({ messages }) => JSON.stringify(messages));
    },
  }));

  it("about a plan waits for its answer", async () => {
    script = [PLAN];
    const waiting = await holdfast(["run", "--approve", "first", "--thread", "t", "A garden"]);
    expect(waiting.code).toBe(3);
    expect(waiting.out).toContain("The agent proposes this plan:\n  [>] 1 Dig");
    expect(waiting.out).toContain("Waiting for an answer");

    const wrong = await holdfast(["resume", "t", "--answer", "perhaps"]);
    expect(wrong).toMatchObject({ code: 3 });
    expect(wrong.out).toContain('The answer "perhaps" is not understood; use approve');

    script = [call("update_todos", { done: "1,2,3", note: "by hand" }), say("Planted.")];
    const input = "- [ ] Dig\n- [ ] Water\n- [ ] Plant\n";
    const answered = await holdfast(["resume", "t", "--answer", "@-"], { input });
    expect(answered.out).toContain("[x] 2 Water");
    expect(answered.code).toBe(0);
  });

  it("about a tool waits for consent", async () => {
    script = [call("execute", { command: "echo ran > proof" })];
    const waiting = await holdfast(["run", "--dir", ".", "--shell", "--thread", "t", "Go"]);
    expect(waiting.code).toBe(3);
    expect(waiting.out).toContain('execute {"command":"echo ran > proof"}');
    expect(waiting.out).toContain('Answer with --answer approve or --answer "reject: reason".');
    expect(waiting.out).toContain("Continue with: holdfast resume t --answer approve\n");
    expect(() => readFileSync(join(home, "proof"))).toThrow("ENOENT");

    script = [say("Done.")];
    expect(await holdfast(["resume", "t", "--answer", "approve"])).toMatchObject({ code: 0 });
    expect(readFileSync(join(home, "proof"), "utf8")).toBe("ran\n");
  });

  it("about several calls of a turn takes answers in order, and none is asked twice", async () => {
    const write = (name: string) => ({
      name: "write_file",
      arguments: JSON.stringify({ file_path: `/${name}`, content: name }),
    });
    script = [{ toolCalls: [write("a"), write("b"), write("c")] }];
    const first = await holdfast(["run", "--dir", ".", "--ask", "write_file", "--thread", "t", "Go"]);
    expect(first.out).toContain("--answer approve --answer approve --answer approve\n");
    expect(first.out).toContain("3 times, in the order of the questions");

    const second = await holdfast(["resume", "t", "-a", "approve", "-a", "reject: not b"]);
    expect(second.code).toBe(3);
    expect(readFileSync(join(home, "a"), "utf8")).toBe("a");
    expect(second.out.match(/✗ write b.*not b$/gm)).toHaveLength(1);
    const later = second.out.slice(second.out.lastIndexOf("asks for permission"));
    expect(later).toContain('"/c"');
    expect(second.out).toContain("Continue with: holdfast resume t --answer approve\n");
  });

  it("about a command is asked also where --ask names other tools", async () => {
    const waits = async (args: string[]): Promise<void> => {
      script = [call("execute", { command: "echo ran > proof" })];
      const { code, out } = await holdfast(["run", ...args, "Go"]);
      expect(out).toContain('execute {"command":"echo ran > proof"}');
      expect(code).toBe(3);
      expect(() => readFileSync(join(home, "proof"))).toThrow("ENOENT");
    };
    await waits(["--dir", ".", "--shell", "--ask", "write_file"]);

    script = [say("Hello.")];
    await holdfast(["run", "--dir", ".", "--shell", "--thread", "asked", "Hello"]);
    await waits(["--thread", "asked", "--ask", "write_file"]);

    script = [say("Hello.")];
    await holdfast(["run", "--dir", ".", "--shell", "--yes", "--thread", "trusted", "Hello"]);
    await waits(["--thread", "trusted", "--ask", "write_file"]);
  });

  it("is asked for every tool that a thread was ever told to ask for", async () => {
    script = [say("Hello.")];
    await holdfast(["run", "--ask", "ls", "--ask", "write_file", "--thread", "t", "Hello"]);
    script = [call("write_file", { file_path: "/a", content: "" })];
    expect(await holdfast(["run", "--thread", "t", "--ask", "edit_file", "Go"])).toMatchObject({ code: 3 });
  });

  it("is not answered by surplus words or words for another question", async () => {
    script = [call("write_file", { file_path: "/a", content: "" })];
    await holdfast(["run", "--ask", "write_file", "--thread", "t", "Go"]);
    const surplus = await holdfast(["resume", "t", "-a", "approve", "-a", "approve"]);
    expect(surplus).toMatchObject({ code: 2, out: "" });
    expect(surplus.err).toContain("open questions, and there are 2 answers");
    script = [call("write_file", { file_path: "/b", content: "" })];
    const next = await holdfast(["resume", "t", "-a", "approve"]);
    expect(next.out).toContain('"/b"');
    expect(next.code).toBe(3);
  });

  it("stays open after an unreadable answer", async () => {
    script = [call("write_file", { file_path: "/a", content: "" })];
    await holdfast(["run", "--ask", "write_file", "--thread", "t", "Go"]);
    expect(await holdfast(["resume", "t", "-a", "[]"])).toMatchObject({ code: 3 });
    script = [say("Done.")];
    expect(await holdfast(["resume", "t", "-a", '{"type":"approve"}'])).toMatchObject({ code: 0 });
  });

  it("is shown also with --quiet, apart from the answer", async () => {
    script = [call("ask_clarification", { question: "Which bed?" })];
    const { out, err } = await holdfast(["run", "--quiet", "--thread", "t", "A garden"]);
    expect(out).toBe("");
    expect(err).toContain("Which bed?");
    expect(err).toContain("holdfast resume t --answer");
  });

  it("about a plan keeps the plan from being edited elsewhere", async () => {
    script = [PLAN];
    await holdfast(["run", "--approve", "first", "--thread", "t", "A garden"]);
    const { code, err } = await holdfast(["plan", "edit", "t"], { env: { EDITOR: "true" } });
    expect(code).toBe(2);
    expect(err).toContain("A plan waits for your approval in t");
  });

  it("stays open while the plan is edited, and its answer arrives", async () => {
    const ask = { name: "ask_clarification", arguments: JSON.stringify({ question: "Which bed?" }) };
    script = [PLAN, { toolCalls: [{ name: "ls", arguments: '{"path":"/"}' }, ask] }];
    expect(await holdfast(["run", "--thread", "t", "A garden"])).toMatchObject({ code: 3 });
    const editor = join(home, "editor.sh");
    writeFileSync(editor, `#!/bin/sh\nsed -i 's/#2: Plant/#2: Plant kelp/' "$1"\n`, { mode: 0o755 });
    expect(await holdfast(["plan", "edit", "t"], { env: { EDITOR: editor } })).toMatchObject({ code: 0 });
    expect((await holdfast(["show", "t"])).out).toContain("#2: Plant kelp");
    expect((await holdfast(["threads"])).out).toMatch(/^t +waiting /m);
    script = [call("update_todos", { done: "1,2", note: "by hand" }), say("Planted.")];
    expect(await holdfast(["resume", "t", "--answer", "left"])).toMatchObject({ code: 0 });
    const told = JSON.stringify(requests().at(-2)!.messages);
    expect(told).toContain("The user answers: left");
    expect(told).toContain("Plant kelp");
  });

  it("keeps the user's text of an edit that the turn would undo, but refuses the edit", async () => {
    const task = { description: "Dig", subagent_type: "general-purpose", todo_id: "1" };
    script = [
      {
        toolCalls: [
          { name: "write_todos", arguments: JSON.stringify({ todos: ["Dig", "Plant"] }) },
          { name: "task", arguments: JSON.stringify(task) },
        ],
      },
      call("write_file", { file_path: "/a", content: "" }),
    ];
    await holdfast(["run", "--ask", "write_file", "--thread", "t", "A garden"]);
    const refused = await holdfast(["plan", "edit", "t"], { env: { EDITOR: "sed -i /Plant/d" } });
    expect(refused.code).toBe(2);
    expect(refused.err).toContain("run holdfast resume t first. Your text is in ");
    rmSync(join(/in (\S+)\.\n$/.exec(refused.err)![1]!, ".."), { recursive: true });
    script = [say("Dug."), call("update_todos", { done: "1,2", note: "by hand" }), say("Done.")];
    expect(await holdfast(["resume", "t", "--answer", "approve"])).toMatchObject({ code: 0 });
    expect((await holdfast(["show", "t"])).out).toContain("#2: Plant");
  });

  it("is not asked with --yes", async () => {
    script = [call("execute", { command: "echo ran > proof" }), say("Done.")];
    expect(await holdfast(["run", "--dir", ".", "--shell", "--yes", "Go"])).toMatchObject({ code: 0 });
    expect(readFileSync(join(home, "proof"), "utf8")).toBe("ran\n");
  });

  it("asked by the agent itself waits for the user's words", async () => {
    script = [call("ask_clarification", { question: "Which bed?", options: ["left", "right"] })];
    const waiting = await holdfast(["run", "--thread", "t", "--json", "A garden"]);
    expect(waiting.code).toBe(3);
    expect(eventsOf(waiting.out).find(({ type }) => type === "question")).toMatchObject({
      kind: "clarification",
      text: "Which bed?",
      options: ["left", "right"],
    });
    expect(eventsOf(waiting.out).at(-1)).toMatchObject({ resume: "holdfast resume t --answer left" });
    expect((await holdfast(["show", "t"])).out).toContain(
      "Waiting for an answer: Which bed?\n  1. left\n  2. right\n",
    );
    script = [say("Planted.")];
    expect(await holdfast(["resume", "t", "--answer", "2"])).toMatchObject({ code: 0 });
    expect(JSON.stringify(requests().at(-1)!.messages)).toContain("The user answers: right");
  });

  it("is no work: show counts the time apart, and has every plan of the thread", async () => {
    const ask = call("ask_clarification", { question: "Which bed?" });
    script = [PLAN, ask];
    await holdfast(["run", "--thread", "t", "A garden"]);
    script = [call("update_todos", { done: "1,2", note: "by hand" }), say("Planted.")];
    await holdfast(["resume", "t", "--answer", "left"]);
    script = [PLAN, call("update_todos", { done: "1,2", note: "by hand" }), say("Again.")];
    await holdfast(["run", "--thread", "t", "Another one"]);
    const { out } = await holdfast(["show", "t"]);
    expect(out).toMatch(
      /^Plan 1: A garden\n\n\[x\] #1: Dig .*\(\d+ s, \S+ tokens\)\n\[x\] #2: Plant.*\n\n\(2\/2 completed\)\n\nPlan 2: Another one\n\n\[x\] #3: Dig /,
    );
    const { plans, waitedMs } = JSON.parse((await holdfast(["show", "t", "--format", "json"])).out) as {
      plans: unknown[];
      waitedMs: number;
    };
    expect(plans).toHaveLength(2);
    expect(waitedMs).toBeGreaterThan(0);
    const live = eventsOf((await holdfast(["show", "t", "--json"])).out);
    expect(live.filter(({ type }) => type === "run-end")).toMatchObject([{ waitedMs }, {}]);
  });
});

describe("threads", () => {
  let place: string;
  beforeAll(async () => {
    place = home = mkdtempSync(join(tmpdir(), "holdfast-cli-"));
    script = [PLAN, say("I stop."), say("I stop."), say("I stop.")];
    await holdfast(["run", "--thread", "garden-1", "A garden with 漢字 in its title"]);
    script = [say("Hello.")];
    await holdfast(["run", "--thread", "hello-1", "Say hello"]);
    renameSync(place, `${place}-ran`);
  });
  afterAll(() => rmSync(`${place}-ran`, { recursive: true }));
  beforeEach(() => {
    rmSync(home, { recursive: true });
    // In the same place for each test: a thread knows its directory.
    home = place;
    cpSync(`${place}-ran`, home, { recursive: true });
  });

  it("are listed with state and progress, the last used first", async () => {
    const { out } = await holdfast(["threads"]);
    const rows = out.trimEnd().split("\n");
    expect(rows[1]).toMatch(/^hello-1 +done +- +now +\. +Say hello$/);
    expect(rows[2]).toMatch(/^garden-1 +open +0\/2 +now +\. +A garden with 漢字 in its title$/);
    const [first] = (await holdfast(["threads", "--json", "--limit", "1"])).out.trimEnd().split("\n");
    expect(JSON.parse(first!)).toMatchObject({ id: "hello-1", state: "done" });
  });

  it("are listed with the number of their plans, where they have had several", async () => {
    script = [
      call("update_todos", { done: "1,2", note: "by hand" }),
      say("Planted."),
      call("write_todos", { todos: ["Water", "Weed", "Rest"] }),
      ...[1, 2, 3].map(() => say("I stop.")),
    ];
    await holdfast(["resume", "garden-1"]);
    expect((await holdfast(["threads"])).out).toMatch(/^garden-1 +done +2\/2 +now/m);
    await holdfast(["run", "--thread", "garden-1", "Care for it"]);
    expect((await holdfast(["threads"])).out).toMatch(/^garden-1 +open +0\/3 of plan 2 +now/m);
    const rows = (await holdfast(["threads", "--json"])).out.trimEnd().split("\n");
    expect(rows.map((row) => (JSON.parse(row) as { plans?: number }).plans)).toEqual([2, undefined]);
  });

  it("are found by the beginning of their names", async () => {
    expect((await holdfast(["show", "gard"])).out).toMatch(
      /^\[>\] #1: Dig\n\[ \] #2: Plant\n\n\(0\/2 completed\)\n\n.*tokens\n$/,
    );
    const unknown = await holdfast(["show", "x"]);
    expect(unknown).toMatchObject({ code: 2, out: "" });
    expect(unknown.err).toBe(
      'holdfast: There is no thread "x": the latest are hello-1, garden-1. See holdfast threads.\n',
    );
  });

  it("are refused when an existing thread's name starts with the new name", async () => {
    const { code, out, err } = await holdfast(["run", "--thread", "hello-", "Again"]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toBe(
      'holdfast: There is no thread "hello-", but hello-1 begins so: type all of its name, or choose another.\n',
    );
    script = [say("Hello again.")];
    expect(await holdfast(["run", "--thread", "hello-12", "Again"])).toMatchObject({ code: 0 });
  });

  it.each([
    ["markdown", /^## Plan: .+\n\n- \[ \] Dig \*\(In progress/],
    ["mermaid", /^graph TD/],
    ["json", /"plan": \[/],
  ])("are shown as %s", async (format, expected) => {
    expect((await holdfast(["show", "garden-1", "--format", format])).out).toMatch(expected);
  });

  it("give their answers and files back", async () => {
    script = [call("write_file", { file_path: "/notes.md", content: "seeds" }), say("Written.")];
    await holdfast(["run", "--no-dir", "--thread", "notes", "Note it"]);
    expect((await holdfast(["show", "notes", "--answer"])).out).toBe("Written.\n");
    const told = (await holdfast(["show", "notes", "--transcript"])).out;
    expect(told).toContain("## You\n\nNote it\n\n### ✓ write_file /notes.md");
    expect(told).toContain("```diff\n+seeds\n```");
    expect(told).toContain("## Agent\n\nWritten.");
    const events = (await holdfast(["show", "notes", "--json"])).out.trim().split("\n");
    expect(events.map((line) => (JSON.parse(line) as { type: string }).type)).toEqual([
      "run-start",
      "model-start",
      "model-end",
      "tool-start",
      "tool-end",
      "model-start",
      "model-end",
      "run-end",
    ]);
    expect((await holdfast(["show", "notes", "--files"])).out).toBe("/notes.md\n");
    expect((await holdfast(["show", "notes", "--file", "notes.md"])).out).toBe("seeds\n");
    expect((await holdfast(["show", "notes", "--file", "/x"])).err).toContain("there are: /notes.md");
  });

  it("are exported as one page that needs nothing else, and replaces nothing unasked", async () => {
    const file = join(home, "garden.html");
    const made = { code: 0, out: `The thread is in ${file}.\n` };
    expect(await holdfast(["export", "gard", file])).toMatchObject(made);
    const page = readFileSync(file, "utf8");
    expect(page).toMatch(/^<!doctype html>/);
    expect(page).toContain("<li>Dig <span");
    expect(page).toContain("A garden with 漢字 in its title");
    expect(page).not.toMatch(/<script|<link|https?:/);
    expect(await holdfast(["export", "gard", file])).toMatchObject({
      code: 2,
      err: `holdfast: ${file} cannot be written: it is there already; --force replaces it.\n`,
    });
    expect(await holdfast(["export", "gard", file, "--force"])).toMatchObject(made);
    expect((await holdfast(["export", "gard", "-"])).out).toBe(page);
  });

  it("are exported in the format of the file's extension", async () => {
    const text = join(home, "garden.md");
    expect(await holdfast(["export", "gard", text])).toMatchObject({ code: 0 });
    const markdown = readFileSync(text, "utf8");
    expect(markdown).toMatch(/^# .*\n\n.*tokens.*\n\n- \[Plan/);
    expect(markdown).toMatch(/## Timeline\n\n\| began \|/);
    expect(markdown.endsWith((await holdfast(["show", "gard", "--transcript"])).out)).toBe(true);
    const events = join(home, "garden.json");
    expect(await holdfast(["export", "gard", events])).toMatchObject({ code: 0 });
    expect(readFileSync(events, "utf8")).toBe((await holdfast(["show", "gard", "--json"])).out);
  });

  it("are deleted, all or none", async () => {
    expect(await holdfast(["rm", "hello-1", "nobody"])).toMatchObject({ code: 2 });
    expect(await holdfast(["rm", "hello-1"])).toMatchObject({ code: 0, out: "Deleted hello-1.\n" });
    expect((await holdfast(["threads"])).out).not.toContain("hello-1");
    expect((await holdfast(["rm"])).err).toContain("holdfast rm --unused-for 30");
    expect(await holdfast(["rm", "--unused-for", "1"])).toMatchObject({ code: 0, out: "" });
  });

  it("are resumed by default where something is left", async () => {
    script = [call("update_todos", { done: "1,2", note: "by hand" }), say("Planted.")];
    expect((await holdfast(["resume"])).out).toContain("resumed garden-1");
    expect(await holdfast(["resume"])).toMatchObject({ code: 2 });
    expect((await holdfast(["resume", "garden-1"])).err).toContain("is finished. Give it another task");
  });

  it("have plans that the user edits in an editor, and that are checked and applied", async () => {
    const editor = join(home, "editor.sh");
    writeFileSync(editor, "#!/bin/sh\nsed -i 's/\\[ \\] #2: Plant/[ ] #2: Plant kelp/' \"$1\"\n", {
      mode: 0o755,
    });
    const edited = await holdfast(["plan", "edit", "garden-1"], { env: { EDITOR: editor } });
    expect(edited).toMatchObject({ code: 0, err: "" });
    expect((await holdfast(["show", "garden-1"])).out).toContain("#2: Plant kelp");
    script = [call("update_todos", { done: "1,2", note: "by hand" }), say("Planted.")];
    await holdfast(["resume", "garden-1"]);
    expect(JSON.stringify(requests().at(-2)!.messages.at(-1))).toContain("Plant kelp");
  });

  it("keep their plans when an edit is not valid", async () => {
    writeFileSync(join(home, "bad.sh"), `#!/bin/sh\necho '- [?] What' > "$1"\n`, { mode: 0o755 });
    const refused = await holdfast(["plan", "edit", "garden-1"], { env: { EDITOR: join(home, "bad.sh") } });
    expect(refused.code).toBe(2);
    expect(refused.err).toContain('Line 1: "[?]" is not a mark');
    const kept = /Your text is in (\S+)\.\n$/.exec(refused.err)![1]!;
    expect(readFileSync(kept, "utf8")).toBe("- [?] What\n");
    rmSync(join(kept, ".."), { recursive: true });
    const emptied = await holdfast(["plan", "edit", "garden-1"], { env: { EDITOR: "sh -c ': > \"$0\"'" } });
    expect(emptied.code).toBe(2);
    expect(emptied.err).toContain("There are no items in it");
    rmSync(join(/in (\S+)\.\n$/.exec(emptied.err)![1]!, ".."), { recursive: true });
    expect((await holdfast(["plan", "edit", "garden-1"], { env: { EDITOR: "true" } })).out).toBe(
      "Nothing was changed.\n",
    );
    expect((await holdfast(["plan", "edit", "garden-1"], { env: { EDITOR: "false" } })).code).toBe(2);
    expect((await holdfast(["show", "garden-1"])).out).toContain("#1: Dig");
  });

  it("have no plan to edit when they were started without one", async () => {
    script = [say("Hello.")];
    await holdfast(["run", "--no-plan", "--thread", "bare", "Say hello"]);
    const { code, err } = await holdfast(["plan", "edit", "bare"], { env: { EDITOR: "true" } });
    expect(code).toBe(2);
    expect(err).toContain("--no-plan");
  });

  it("in the hands of another process are left alone", async () => {
    const other = await sqliteSaver(join(home, "threads.db"));
    const release = await other.acquireThread("garden-1");
    try {
      for (const command of ["resume", "rm"]) {
        const { code, err } = await holdfast([command, "garden-1"]);
        expect(code).toBe(1);
        expect(err).toContain("is in use by process");
      }
      const { code, out } = await holdfast(["plan", "edit", "garden-1"], { env: { EDITOR: "true" } });
      expect(code).toBe(0);
      expect(out).toBe(
        "garden-1 is running; your changes are made between two of its steps.\nNothing was changed.\n",
      );
    } finally {
      await release();
      other.close();
    }
  });
});

describe("a user's mistake prints one line and exits with 2", () => {
  it.each([
    [["run", "--dir", "nowhere", "x"], "is not there"],
    [["run", "--no-dir", "--shell", "x"], "add --dir"],
    [["run"], "There is no task"],
    [["run", "--preset", "loose", "x"], 'use one of "lean"'],
    [["run", "--modle", "x", "y"], "Unknown flag --modle; did you mean --model?"],
    [["run", "--model", "nobody:x", "y"], "nobody"],
    [["show"], "Name a thread"],
    [["resume"], "There is no unfinished thread"],
    [["run", "this", "directory"], "in quotes"],
    [["run", "--model"], "--model needs a value"],
    [["run", "--dir", "a", "--dir", "b", "x"], "--dir was given more than once"],
    [["worker", "--queues", "a", "--queues", "b,c d"], '"c d" is no name of a queue'],
    [["run", "--dir=", "x"], "--dir is empty"],
    [["run", "--thread=", "x"], "--thread is empty"],
    [["run", "--thread", "../README", "x"], "--thread ../README: use letters, digits, dots, _ and -"],
    [["run", "--thread", ".hidden", "x"], "--thread .hidden: use letters"],
    [["run", "--thread=-rf", "x"], "--thread -rf: use letters"],
    [["run", "--thread", "$(touch x)", "x"], "--thread '$(touch x)': use letters"],
    [
      ["run", "--thread", "a\u001B]52;c;eA==\u0007\nb", "x"],
      "--thread $'a\\U0000001b]52;c;eA==\\U00000007 b': use",
    ],
    [["run", "--thread", "x".repeat(101), "x"], "up to 100 of them"],
    [["run", "--ask", "exekute", "x"], 'no tool "exekute"'],
    [["run", "--yes", "--ask", "write_file", "x"], "leave out one"],
    [["threads", "--limit", "0"], "--limit is a whole number"],
    [["threads", "--limit"], "--limit needs a value"],
    [["threads", "--state"], "--state needs a value"],
    [["completion", "tcsh"], 'no completion for "tcsh"; use bash, zsh, fish or powershell'],
    [["frobnicate"], "Unknown command frobnicate; see holdfast --help."],
    [["rnu", "x"], "Unknown command rnu; did you mean run?"],
    [["plan", "eidt", "t"], "Unknown command eidt; did you mean plan edit?"],
    [["Fix the bug"], "for a task it is holdfast run 'Fix the bug'"],
    [["run", "--prest=lean", "x"], "Unknown flag --prest; did you mean --preset?"],
    [["run", "--budget", "hours=3", "x"], '--budget is "hours=3"; hours=3: write amounts above 0 of tokens'],
    [["run", "-m", "openai:own", "--budget", "cost=3", "x"], "--budget has a cost: set HOLDFAST_PRICES"],
    [["run", "--max-tuns", "3", "x"], "Unknown flag --max-tuns; did you mean --max-turns?"],
    [["run", "--no-paln", "x"], "Unknown flag --no-paln; did you mean --no-plan?"],
    [["run", "-z", "x"], "Unknown flag -z; see holdfast run --help."],
    [["show", "a", "b"], "Unknown argument b. See holdfast show --help."],
    [["threads", "--wibble"], "Unknown flag --wibble; see holdfast threads --help."],
    [[], 'There is no task: holdfast run "task"'],
  ])("%j", async (args, said) => {
    const { code, out, err } = await holdfast(args);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(/^holdfast: .*\n$/);
    expect(err).toContain(said);
  });

  it("in an environment variable too", async () => {
    const { code, err } = await holdfast(["run", "x"], { env: { HOLDFAST_PRICES: "cheap" } });
    expect(code).toBe(2);
    expect(err).toContain("HOLDFAST_PRICES");
  });
});

it.each([
  [["--help"], "holdfast <command>"],
  [["run", "--help"], "holdfast run [task]"],
  [["--version"], /^\d+\.\d+\.\d+\n$/],
])("%j goes where all other output goes", async (args, said) => {
  const { code, out, err } = await holdfast(args);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toMatch(said);
});

it("a damaged thread file is one line, and stays as it is", async () => {
  const file = join(home, "threads.db");
  writeFileSync(file, "not a database, for sure".repeat(100));
  const before = readFileSync(file);
  const { code, err } = await holdfast(["threads"]);
  expect(code).toBe(1);
  expect(err).toMatch(/^holdfast: .*threads\.db.*\n$/);
  expect(readFileSync(file)).toEqual(before);
  const doctor = await holdfast(["doctor"]);
  expect(doctor.code).toBe(1);
  expect(doctor.out).toContain("✗");
});

it("doctor reports its findings and the next steps, and never shows a key", async () => {
  const { code, out } = await holdfast(["doctor"], {
    env: { OLLAMA_HOST: "127.0.0.1:9", OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4317" },
  });
  expect(code).toBe(0);
  expect(out).toMatch(
    /· traces: posted to http:\/\/127\.0\.0\.1:4317\/v1\/traces .*\n {4}That is the usual port/,
  );
  expect(out).toContain(
    "· model: openai:gpt-5.1 (HOLDFAST_MODEL; OPENAI_API_KEY, OPENAI_BASE_URL set); OpenAI answers",
  );
  expect(out).not.toContain("sk-test");
  expect(out).toContain("no Ollama server at http://127.0.0.1:9");
  expect(out).toContain(join(home, "threads.db"));
});

function eventsOf(out: string): RunEvent[] {
  return out
    .trimEnd()
    .split("\n")
    .map((line) => RUN_EVENT.parse(JSON.parse(line)));
}

it.each([["--continue"], ["-c"], ["--resume"], ["--plain"]])(
  "%s without a terminal names the command to use instead of a session",
  async (flag) => {
    expect((await holdfast([flag])).err).toContain(
      'A session needs a terminal: use holdfast run "task" here.',
    );
  },
);
