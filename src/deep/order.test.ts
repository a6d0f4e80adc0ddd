import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { Command, MemorySaver } from "@langchain/langgraph";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rounds } from "../../test/helpers/runner/rounds.ts";
import { diskBackend, shellBackend } from "../files/index.ts";
import { makeLeadAgent } from "../lead/index.ts";
import { callTool, ScriptedModel, type Step } from "../testing/index.ts";
import { createDeepAgent } from "./index.ts";

let base: string;
let count = 0;
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), "holdfast-order-"));
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

const go = { messages: [new HumanMessage("go")] };
type Call = ReturnType<typeof callTool>;

interface Open {
  id: string;
  value: { call: string };
}

interface Agent {
  invoke(input: unknown, config: object): Promise<unknown>;
}

/** What the model reads of its calls, where a person approves all but those it names. */
async function told(agent: Agent, rejected: ReadonlySet<string>): Promise<Record<string, string>> {
  const config = { configurable: { thread_id: "t" } };
  let input: unknown = go;
  for (;;) {
    const state = (await agent.invoke(input, config)) as {
      messages: BaseMessage[];
      __interrupt__?: Open[];
    };
    const { messages, __interrupt__: open = [] } = state;
    if (open.length === 0) {
      const results = messages.filter((message) => ToolMessage.isInstance(message));
      return Object.fromEntries(results.map((message) => [message.tool_call_id, message.text]));
    }
    const answers = open.map(({ id, value: { call } }) => [
      id,
      { type: rejected.has(call) ? "reject" : "approve" },
    ]);
    input = new Command({ resume: Object.fromEntries(answers) as object });
  }
}

const file = fc.constantFrom("/a.md", "/b.md");
const text = fc.constantFrom("one\n", "two\n", "one\ntwo\n");
const fileCall = fc.oneof(
  fc.record({ file_path: file, content: text }).map((args) => ["write_file", args] as const),
  fc
    .record({
      file_path: file,
      old_string: fc.constantFrom("one", "two"),
      new_string: fc.constantFrom("1", "two"),
    })
    .map((args) => ["edit_file", args] as const),
  fc.record({ file_path: file }).map((args) => ["read_file", args] as const),
  fc.record({ file_path: file }).map((args) => ["delete_file", args] as const),
  fc.constant(["ls", {}] as const),
  fc.constant(["grep", { pattern: "o" }] as const),
);

const turns = fc.array(fileCall, { minLength: 2, maxLength: 6 }).chain((made) => {
  const calls = made.map(([name, args], at) => callTool(name, args, `c${at}`));
  const rejected = fc.subarray(calls.map(({ id }) => id!));
  return fc.record({ calls: fc.constant(calls), rejected: rejected.map((ids) => new Set(ids)) });
});

const PLACES: Record<string, () => object> = {
  "files in the thread": () => ({}),
  "files on a disk": () => ({ backend: diskBackend(join(base, `disk-${++count}`)) }),
};

describe("calls of one message in a deep agent", () => {
  for (const [name, place] of Object.entries(PLACES)) {
    it(`give the results of one call per message, with any calls rejected: ${name}`, async () => {
      const run = (steps: Step[], rejected: ReadonlySet<string>) =>
        told(
          createDeepAgent({
            model: new ScriptedModel([...steps, "ok"]),
            plan: false,
            checkpointer: new MemorySaver(),
            loopGuard: false,
            interruptOn: { write_file: true, edit_file: true },
            ...place(),
          }),
          rejected,
        );
      await fc.assert(
        fc.asyncProperty(turns, async ({ calls, rejected }) => {
          const oneByOne = await run(calls, rejected);
          // Nobody is asked about a call that can only fail, which in one message is not known of the later ones.
          const asked = calls.filter((call) => rejected.has(call.id!) && /^(write|edit)_/.test(call.name));
          fc.pre(asked.every(({ id }) => oneByOne[id!]!.startsWith("The user does not allow")));
          expect(await run([calls], rejected)).toEqual(oneByOne);
        }),
        { numRuns: rounds(60) },
      );
    });
  }

  it("run a command on the files as the earlier calls left them", async () => {
    const write = (at: number): Call[] => [
      callTool("write_file", { file_path: `/r${at}.txt`, content: `${at}` }, `w${at}`),
      callTool("execute", { command: `cat r${at}.txt` }, `e${at}`),
    ];
    const model = new ScriptedModel([...[1, 2, 3].map(write), "ok"]);
    const backend = shellBackend(join(base, "shell"), { isolation: "never" });
    const agent = createDeepAgent({ model, backend, plan: false }) as unknown as Agent;
    const results = await told(agent, new Set());
    expect([results["e1"], results["e2"], results["e3"]]).toEqual(["1", "2", "3"]);
  });

  it("give a sub-agent the files of earlier calls, and run sub-agents in parallel", async () => {
    const task = (id: string) => callTool("task", { description: id, subagent_type: "general-purpose" }, id);
    let waiting: (() => void) | undefined;
    const both = new Promise<void>((resolve) => {
      waiting = resolve;
    });
    const heard: string[] = [];
    const model = new ScriptedModel(
      [
        async ({ messages }) => {
          const first = messages.find((message) => HumanMessage.isInstance(message));
          const answers = messages.filter((message) => ToolMessage.isInstance(message));
          if (first!.text === "go") {
            if (answers.length > 0) return "ok";
            return [
              callTool("write_file", { file_path: "/a.md", content: "x" }, "w"),
              task("t1"),
              task("t2"),
            ];
          }
          if (answers.length > 0) return `${first!.text}: ${answers[0]!.text}`;
          heard.push(first!.text);
          // The first goes on when the second has begun.
          if (heard.length === 2) waiting!();
          await both;
          return callTool("ls", {}, "ls");
        },
      ],
      { loop: true },
    );
    const agent = createDeepAgent({ model, plan: false }) as unknown as Agent;
    expect(await told(agent, new Set())).toMatchObject({
      t1: "t1: /a.md",
      t2: "t2: /a.md",
    });
  });
});

describe("calls of one message of a lead agent", () => {
  it("give the results of one call per message", async () => {
    const run = (steps: Step[]) =>
      told(
        makeLeadAgent(
          {},
          {
            model: new ScriptedModel([...steps, "ok"]),
            baseDir: join(base, `lead-${++count}`),
            title: { model: new ScriptedModel(["Title"], { loop: true }) },
            checkpointer: new MemorySaver(),
            loopGuard: false,
          },
        ),
        new Set(),
      );
    const inSandbox = (calls: readonly Call[]): Call[] =>
      calls.map((call) => {
        const { file_path } = call.args as { file_path?: string };
        const args = {
          ...call.args,
          ...(file_path && { file_path: `/mnt/user-data/workspace${file_path}` }),
        };
        return { ...call, args };
      });
    await fc.assert(
      fc.asyncProperty(turns, async ({ calls }) => {
        const made = inSandbox(calls);
        expect(await run([made])).toEqual(await run(made));
      }),
      { numRuns: rounds(12) },
    );
  });
});

it("the last open question of a turn accepts an answer without an id", async () => {
  const write = (name: string) => callTool("write_file", { file_path: `/${name}`, content: name }, name);
  const model = new ScriptedModel([[write("first"), write("second")], "Done."]);
  const checkpointer = new MemorySaver();
  const agent = createDeepAgent({ model, plan: false, checkpointer, interruptOn: { write_file: true } });
  const config = { configurable: { thread_id: "t" } };
  const invoke = async (input: unknown) =>
    (await agent.invoke(input as never, config)) as {
      __interrupt__?: Open[];
      files: Record<string, unknown>;
    };
  const { __interrupt__: open = [] } = await invoke(go);
  const second = open.find(({ value }) => value.call === "second")!;
  await invoke(new Command({ resume: { [second.id]: { type: "approve" } } }));
  const ended = await invoke(new Command({ resume: { type: "approve" } }));
  expect(ended.__interrupt__ ?? []).toEqual([]);
  expect(Object.keys(ended.files)).toEqual(["/first", "/second"]);
});
