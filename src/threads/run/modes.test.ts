import { once } from "node:events";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { Command, MemorySaver } from "@langchain/langgraph";
import { tool } from "langchain";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { isIsolated } from "../../files/index.ts";
import { CONFIG } from "../../marks.ts";
import type { Config } from "../../project/index.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import { WEB_TOOLS } from "../../web/tools.ts";
import { CONSENT_REASONS } from "../consent/consent-rules.prompt.ts";
import { consentRules } from "../consent/consent-rules.ts";
import { PLAN_MODE_PROMPT } from "../prepare/agent.prompt.ts";
import { createRunAgent, RUN_TOOLS } from "../prepare/agent.ts";
import { DEFAULT_SETTINGS, type RunSettings } from "../prepare/settings.ts";
import { Thread } from "../thread/thread.ts";

let dir: string;
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-modes-")));
});
afterEach(() => rmSync(dir, { recursive: true }));

const write = (file_path: string, content = "x") => callTool("write_file", { file_path, content });
const run = (command: string) => callTool("execute", { command });
const plan = callTool("write_todos", { todos: ["do it"] });
/** Answers of an agent with an open plan, which is asked twice whether it has finished. */
const ENDING = ["later", "later", "later"];

interface Given {
  checkpointer?: MemorySaver;
  isProposed?: boolean;
  settings?: Partial<RunSettings>;
  config?: Config;
  canAsk?: boolean;
}

/** Runs a script, and says what was asked for and what tools answered. */
async function play(
  steps: Step[],
  { settings = {}, config = {}, canAsk, checkpointer = new MemorySaver(), isProposed = false }: Given = {},
  answers: unknown[] = [],
) {
  const model = new ScriptedModel(steps);
  const search = tool(() => "found", { name: "mcp__web__search", description: "x", schema: z.object({}) });
  search.metadata = { annotations: { readOnlyHint: true } };
  const words = z.object({ words: z.array(z.string()).optional() });
  const post = tool(() => "posted", { name: "mcp__web__post", description: "x", schema: words });
  const agent = createRunAgent({
    settings: { ...DEFAULT_SETTINGS, plan: false, model: "scripted", dir, shell: true, ...settings },
    model,
    checkpointer,
    project: { config, skills: [], instructions: async () => "", mcp: { mcpServers: {} } },
    tools: [search, post],
    canAsk,
  });
  const options = { configurable: { thread_id: "t" } };
  if (isProposed) await new Thread(agent, "t").proposePlan();
  await agent.graph.invoke({ messages: [new HumanMessage("go")] } as never, options);
  for (const resume of answers) await agent.graph.invoke(new Command({ resume }) as never, options);
  const { values, tasks } = await agent.graph.getState(options);
  const { messages } = values as { messages: BaseMessage[] };
  const asked = tasks.flatMap(({ interrupts }) =>
    interrupts.map(({ value }) => value as { type: string; name?: string }),
  );
  return {
    asked: asked.map(({ type, name }) => name ?? type),
    replies: messages.flatMap((message) => (ToolMessage.isInstance(message) ? message.text : [])),
    requests: model.requests,
  };
}
/** Calls, and the modes that ask before them. */
const CALLS = {
  read_file: callTool("read_file", { file_path: "/a" }),
  write_file: write("/src/a.ts"),
  execute: run("true"),
  mcp__web__search: callTool("mcp__web__search"),
  mcp__web__post: callTool("mcp__web__post"),
};

describe("a mode", () => {
  it.each([
    ["ask", ["write_file", "execute", "mcp__web__post"]],
    ["edits", ["execute", "mcp__web__post"]],
    [undefined, ["execute", "mcp__web__post"]],
    ["auto", []],
  ] as const)("%s asks for %j", async (mode, expected) => {
    const settings = mode === undefined ? {} : { mode };
    const { asked } = await play([Object.values(CALLS), "ok"], { settings });
    expect(asked).toEqual(expected);
    expect((await play([Object.values(CALLS), "ok"], mode ? { config: { mode } } : {})).asked).toEqual(
      expected,
    );
  });

  it.each(["plan", "ask", "edits", "auto"] as const)(
    "%s loses no call of a model that uses its ids again",
    async (mode) => {
      const writing = (...files: string[]) =>
        files.map((file, at) =>
          callTool("write_file", { file_path: `/${file}`, content: "x" }, `call_${at}`),
        );
      const planning = callTool("write_todos", { todos: ["do it"] }, "call_0");
      const agent = createRunAgent({
        settings: { ...DEFAULT_SETTINGS, model: "scripted", dir, mode },
        model: new ScriptedModel([
          planning,
          writing("a"),
          writing("b", "c"),
          writing("d", "e", "f"),
          ...ENDING,
        ]),
        checkpointer: new MemorySaver(),
      });
      const options = { configurable: { thread_id: "t" } };
      let input: unknown = { messages: [new HumanMessage("go")] };
      do {
        await agent.graph.invoke(input as never, options);
        const { tasks } = await agent.graph.getState(options);
        const open = tasks.flatMap(({ interrupts }) => interrupts.map(({ id }) => [id, { type: "approve" }]));
        input = open.length > 0 && new Command({ resume: Object.fromEntries(open) as object });
      } while (input);
      expect(readdirSync(dir).toSorted()).toEqual(["a", "b", "c", "d", "e", "f"]);
    },
  );

  it("chosen by the user for a thread overrides the mode in settings", async () => {
    const config: Config = { mode: "auto" };
    expect((await play([run("true"), "ok"], { settings: { mode: "ask" }, config })).asked).toEqual([
      "execute",
    ]);
  });

  it("looks up nothing before a call that needs no consent", async () => {
    const names = (mode: "edits" | "auto" | "plan", folder?: string): string[] =>
      Object.keys(
        consentRules({
          mode,
          rules: {},
          tools: [...RUN_TOOLS, "post"],
          reading: ["ls", "read_file", "glob", "grep", ...WEB_TOOLS],
          dir: folder,
          canAsk: true,
        }),
      );
    expect(names("auto", dir)).toEqual([]);
    expect(names("edits")).toEqual(["execute", "post"]);
    expect(names("edits", dir)).toEqual(["write_file", "edit_file", "delete_file", "execute", "post"]);
    expect(names("plan")).toEqual(["write_file", "edit_file", "delete_file", "execute", "task", "post"]);
  });

  it("asks for what other programs run for the user, except auto", async () => {
    for (const path of ["/.envrc", join(dir, ".vscode/tasks.json")]) {
      expect((await play([write(path), "ok"])).asked).toEqual(["write_file"]);
      expect(
        (await play([write(path), "ok"], { config: { allow: ["write_file", "write_file(/**)"] } })).asked,
      ).toEqual(["write_file"]);
    }
    expect(
      (await play([write("/.envrc"), "ok"], { config: { allow: ["write_file(.envrc)"] } })).asked,
    ).toEqual([]);
    // Nobody is asked about what is refused anyway.
    expect((await play([write("/.GIT/hooks/x"), "ok"], { settings: { mode: "ask" } })).asked).toEqual([]);
    expect((await play([write("/.envrc"), "ok"], { settings: { mode: "auto" } })).asked).toEqual([]);
  });

  it.each(["ask", "auto"] as const)("%s refuses settings of the project in words", async (mode) => {
    const path = "/.holdfast/config.json";
    const { replies, asked } = await play([write(path, "{}"), "ok"], { settings: { mode } });
    expect(asked).toEqual([]);
    expect(replies[0]).toMatch(/^Error/);
    expect(readdirSync(dir)).toEqual([]);
  });

  it("refuses calls that need consent when no user can answer, and says so", async () => {
    const given: Given = { settings: { mode: "ask" }, canAsk: false };
    const { asked, replies } = await play([[write("/a"), run("true")], "ok"], given);
    expect(asked).toEqual([]);
    expect(replies).toEqual([
      `This write_file call was not made: ${CONSENT_REASONS.nobody}`,
      `This execute call was not made: ${CONSENT_REASONS.nobody}`,
    ]);
    expect(() => readFileSync(join(dir, "a"))).toThrow("ENOENT");
    // Where no mode was chosen, the run waits for an answer, as ever.
    expect((await play([run("true"), "ok"], { canAsk: false })).asked).toEqual(["execute"]);
  });
});

describe("rules", () => {
  it("are stronger than a mode: deny before ask, ask before allow", async () => {
    const config: Config = {
      mode: "auto",
      deny: ["execute(rm*)", "write_file(secrets/**)", "read_file(secrets/**)"],
      ask: ["execute(git*)", "write_file(secrets/**)"],
      allow: ["execute", "write_file"],
    };
    const denied = await play(
      [
        [run("rm -rf /"), run("cd / && rm -rf ."), write("/secrets/a"), write(join(dir, "SECRETS/a"))],
        [callTool("read_file", { file_path: "secrets/a" }), run("echo ok")],
        "ok",
      ],
      { config },
    );
    expect(denied.asked).toEqual([]);
    for (const reply of denied.replies.slice(0, 5))
      expect(reply).toMatch(/^This \w+ call was not made: the rule .* forbids it/);
    expect(denied.replies[5]).toContain("ok");
    expect((await play([[run("git push"), run("echo a")], "ok"], { config })).asked).toEqual(["execute"]);
  });

  it("skip the question only for the calls that they allow", async () => {
    const config: Config = { allow: ["execute(echo *)", "write_file(src/**)", "mcp__web__*"] };
    const settings = { mode: "ask" as const };
    const free = [run("echo a"), run("echo a && echo b"), write("/src/a"), callTool("mcp__web__post")];
    expect((await play([free, "ok"], { config, settings })).asked).toEqual([]);
    const not = [run("echo a; touch b"), run("echo $(touch b)"), write("/lib/a"), write("/src/../lib/a")];
    const { asked } = await play([not, "ok"], { config, settings });
    expect(asked).toEqual(["execute", "execute", "write_file", "write_file"]);
    const obeyed = [
      write("/src/AGENTS.md"),
      callTool("mcp__web__post", { path: "a/.github/workflows/ci.yml", text: "x" }),
    ];
    const { asked: about } = await play([obeyed, "ok"], { config, settings: { mode: "edits" } });
    expect(about).toEqual(["write_file", "mcp__web__post"]);
  });

  it("hold in sub-agents", async () => {
    const job = callTool("task", { description: "look", subagent_type: "general-purpose" });
    const { requests, asked } = await play([job, run("rm a"), "seen", "ok"], {
      config: { mode: "auto", deny: ["execute(rm*)"] },
    });
    expect(asked).toEqual([]);
    expect(requests[2]!.messages.at(-1)!.text).toContain("the rule execute(rm*) forbids it");
  });

  it("for denied files also cover searches, parent folders and isolated commands", async () => {
    mkdirSync(join(dir, "keep/secrets"), { recursive: true });
    writeFileSync(join(dir, "keep/secrets/key"), "hush");
    writeFileSync(join(dir, ".env"), "hush");
    writeFileSync(join(dir, "open"), "hush");
    const deny = ["read_file(.env)", "*_file(keep/secrets/**)"];
    const calls = [
      callTool("grep", { pattern: "hush" }),
      callTool("glob", { pattern: "**/*" }),
      callTool("delete_file", { file_path: "/keep" }),
    ];
    const { replies } = await play([calls, run("cat .env keep/secrets/key open"), "ok"], {
      config: { mode: "auto", deny },
    });
    expect(replies[0]).toContain("/open");
    expect(replies[0]).not.toMatch(/env|key/);
    expect(replies[1]).not.toMatch(/env|key/);
    expect(replies[2]).toContain("was not deleted");
    expect(readFileSync(join(dir, "keep/secrets/key"), "utf8")).toBe("hush");
    // A pattern with a star hides nothing from a command.
    expect(replies[3]!.match(/hush/g)).toHaveLength(isIsolated() ? 2 : 3);
  });

  it("match the address of a page, the words of a search and a server's arguments", async () => {
    const config: Config = {
      mode: "ask",
      deny: ["web_fetch(https://evil.example/*)", "web_search(*salary*)", "mcp__web__post(*drop table*)"],
      allow: ["mcp__web__post(hello*)"],
    };
    const post = (...words: string[]) => callTool("mcp__web__post", { words });
    const settings = { web: true };
    const { replies } = await play(
      [
        [
          callTool("web_fetch", { url: "HTTPS://EVIL.example:443/a/../b" }),
          callTool("web_search", { query: "the salary of" }),
          post("a", "please drop table x"),
          post("hello you"),
        ],
        "ok",
      ],
      { config, settings },
    );
    for (const reply of replies.slice(0, 3)) expect(reply).toContain("forbids it");
    expect(replies[3]).toBe("posted");
    expect((await play([post("hello you", "and you"), "ok"], { config })).asked).toEqual(["mcp__web__post"]);
  });

  it("let web_fetch reach an origin of this machine that they name, and no other", async () => {
    const server = createServer((_, response) => response.end("the page")).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const [named, other] = [`http://127.0.0.1:${port}`, `http://localhost:${port}`];
    const steps = [
      [callTool("web_fetch", { url: `${named}/a` }), callTool("web_fetch", { url: other })],
      "ok",
    ];
    const { replies } = await play(steps, { config: { origins: [named] }, settings: { web: true } });
    server.close();
    expect(replies[0]).toContain("the page");
    expect(replies[1]).toContain("not of the public internet");
  });

  it("hide a denied write from the other calls of its turn", async () => {
    const { replies } = await play(
      [[write("/a.md", "denied"), callTool("read_file", { file_path: "/a.md" })], "ok"],
      {
        config: { deny: ["write_file(a.md)"] },
        settings: { dir: undefined, shell: false },
      },
    );
    expect(replies[0]).toContain("forbids it");
    expect(replies[1]).toContain("There is no file");
  });
});

describe("mode plan", () => {
  const settings = { mode: "plan" as const, plan: true };

  it("reads only, writes a plan, and asks before it starts", async () => {
    writeFileSync(join(dir, "a"), "text");
    const steps = [[CALLS.read_file, write("/b"), run("true"), CALLS.mcp__web__search], plan];
    const { replies, asked } = await play(steps, { settings });
    expect(replies[0]).toContain("text");
    expect(replies[1]).toBe(`This write_file call was not made: ${CONSENT_REASONS.planFirst}`);
    expect(replies[2]).toBe(`This execute call was not made: ${CONSENT_REASONS.planFirst}`);
    expect(replies[3]).toBe("found");
    expect(asked).toEqual(["plan-approval"]);
  });

  it("adds one line to the model's prompt, and other modes do not", async () => {
    const told = async (mode: "plan" | "edits") =>
      (await play(["ok"], { settings: { mode, plan: true } })).requests[0]!.messages[0]!.text;
    expect(await told("plan")).toContain(PLAN_MODE_PROMPT);
    expect(await told("edits")).not.toContain("Plan mode");
  });

  it("runs read-only commands before and after the approval, unless a rule denies them", async () => {
    const reads = [run("ls"), run("pwd && ls -la")];
    const { replies, asked } = await play([reads, plan, run("ls"), ...ENDING], { settings }, [
      { type: "approve" },
    ]);
    expect(asked).toEqual([]);
    for (const reply of [replies[0], replies[1], replies[3]]) expect(reply).not.toContain("was not made");
    const denied = await play([run("ls"), "ok"], { settings, config: { deny: ["execute(ls*)"] } });
    expect(denied.replies[0]).toContain("forbids it");
  });

  it("asks again for a plan that leaves the approved one", async () => {
    const more = callTool("update_todos", { add: ["do more"] });
    const { asked } = await play([plan, more], { settings }, [{ type: "approve" }]);
    expect(asked).toEqual(["plan-approval"]);
  });

  it("asks again after a new message, but not after a request to continue", async () => {
    const steps = [plan, ...ENDING, write("/a"), ...ENDING, write("/b"), ...ENDING];
    const agent = createRunAgent({
      settings: { ...DEFAULT_SETTINGS, model: "scripted", dir },
      model: new ScriptedModel(steps),
      checkpointer: new MemorySaver(),
      project: {
        config: { mode: "plan" },
        skills: [],
        instructions: async () => "",
        mcp: { mcpServers: {} },
      },
    });
    const thread = new Thread(agent, "t");
    const say = async (text: string) => {
      await thread.closeTurn(text);
      await agent.graph.invoke({ messages: [new HumanMessage(text)] } as never, thread.config);
    };
    await say("go");
    await agent.graph.invoke(new Command({ resume: { type: "approve" } }) as never, thread.config);
    await say((await thread.nextInput())!);
    expect(readdirSync(dir)).toEqual(["a"]);
    await say("and now something else");
    expect(readdirSync(dir)).toEqual(["a"]);
  });

  it("works like edits once the plan is approved, also in sub-agents", async () => {
    const job = callTool("task", { description: "look", subagent_type: "general-purpose" });
    const steps = [job, write("/early"), "looked", plan, write("/b"), job, write("/c"), run("true")];
    const { asked, requests } = await play(steps, { settings }, [{ type: "approve" }]);
    expect(requests[2]!.messages.at(-1)!.text).toContain(CONSENT_REASONS.planFirst);
    expect(readFileSync(join(dir, "b"), "utf8")).toBe("x");
    expect(readFileSync(join(dir, "c"), "utf8")).toBe("x");
    expect(() => readFileSync(join(dir, "early"))).toThrow("ENOENT");
    expect(asked).toEqual(["execute"]);
  });

  it("asks before writing files that the approved plan does not name", async () => {
    const named = callTool("write_todos", { todos: ["Write src/a.ts", "Add tests to b.test.ts"] });
    const job = callTool("task", { description: "look", subagent_type: "general-purpose" });
    const ours = [write("/src/a.ts"), write("/lib/b.test.ts")];
    const steps = [named, ours, job, [write("/deep/src/a.ts"), write("/README.md")]];
    const { asked } = await play(steps, { settings }, [{ type: "approve" }]);
    expect(asked).toEqual(["write_file"]);
    expect(readFileSync(join(dir, "src/a.ts"), "utf8")).toBe("x");
    expect(readFileSync(join(dir, "lib/b.test.ts"), "utf8")).toBe("x");
    expect(readdirSync(dir).toSorted()).toEqual(["deep", "lib", "src"]);
  });

  it("asks about a plan that is older than the mode, before any other change", async () => {
    const checkpointer = new MemorySaver();
    const begun = await play([plan, ...ENDING], { settings: { plan: true }, checkpointer });
    expect(begun.asked).toEqual([]);
    const steps = [write("/b"), callTool("write_todos", { todos: ["do it"] }), write("/c"), ...ENDING];
    const given = { settings, checkpointer, isProposed: true };
    const { replies, asked } = await play(steps, given, [{ type: "approve" }]);
    expect(replies.at(-3)).toContain(CONSENT_REASONS.planFirst);
    expect(asked).toEqual([]);
    expect(() => readFileSync(join(dir, "b"))).toThrow("ENOENT");
    expect(readFileSync(join(dir, "c"), "utf8")).toBe("x");
  });

  it("lets sub-agents work after a stop, before the main agent says anything", async () => {
    const checkpointer = new MemorySaver();
    await play([plan, ...ENDING], { settings, checkpointer }, [{ type: "approve" }]);
    // Another process: nothing is known but what was saved.
    const refused = (thread: string) => {
      const rules = consentRules({
        mode: "plan",
        rules: {},
        tools: RUN_TOOLS,
        reading: [],
        canAsk: true,
        checkpointer,
      });
      const runtime = { configurable: { thread_id: thread, [CONFIG.owner]: "helper" } };
      const request = { toolCall: { name: "write_file", args: { file_path: "/b" } }, runtime, state: {} };
      return rules["write_file"]!.refuse!(request as never);
    };
    expect(await refused("t")).toBeUndefined();
    expect(await refused("other")).toBe(CONSENT_REASONS.planFirst);
  });

  it("treats an existing plan as unapproved when the run changes to this mode", async () => {
    const checkpointer = new MemorySaver();
    await play([plan, ...ENDING], { settings: { plan: true }, checkpointer });
    const rules = consentRules({
      mode: "ask",
      live: { mode: "plan", allow: [] },
      rules: {},
      tools: RUN_TOOLS,
      reading: [],
      canAsk: true,
      checkpointer,
    });
    const runtime = { configurable: { thread_id: "t", [CONFIG.owner]: "helper" } };
    const request = { toolCall: { name: "write_file", args: { file_path: "/b" } }, runtime, state: {} };
    expect(await rules["write_file"]!.refuse!(request as never)).toBe(CONSENT_REASONS.planFirst);
  });

  it("needs a plan", async () => {
    await expect(play(["ok"], { settings: { mode: "plan" } })).rejects.toThrow("Mode plan needs a plan");
  });
});

/**
 * The order in which a call is judged. Each row has all that the row below has, and one word more, which counts: nothing
 * later allows what was refused before.
 */
describe("the order of precedence", () => {
  const first = [plan, write("/.git/config")];
  const rows: Record<
    string,
    { given: Given; steps: Step[]; answers?: unknown[]; says: string; asks: string[] }
  > = {
    "a rule that denies": {
      given: {
        settings: { plan: true, mode: "plan" },
        config: { deny: ["write_file"], ask: ["write_file"] },
      },
      steps: [write("/.git/config")],
      says: "the rule write_file forbids it",
      asks: [],
    },
    "a permission of files": {
      given: { settings: { plan: true, mode: "plan" }, config: { ask: ["write_file"] } },
      steps: [write("/.git/config")],
      says: "/.git/config",
      asks: [],
    },
    "a mode": {
      given: { settings: { plan: true, mode: "plan" }, config: { ask: ["write_file"] } },
      steps: [write("/a")],
      says: CONSENT_REASONS.planFirst,
      asks: [],
    },
    "the approval of a plan": {
      given: { settings: { plan: true, mode: "plan" }, config: { ask: ["write_file"] } },
      steps: [[plan, write("/a")]],
      says: "",
      asks: ["plan-approval"],
    },
    consent: {
      given: { settings: { plan: true, mode: "plan" }, config: { ask: ["write_file"] } },
      steps: [[plan, write("/a")]],
      answers: [{ type: "approve" }],
      says: "",
      asks: ["write_file"],
    },
    "a permission, though plan and mode allow it": {
      given: { settings: { plan: true, mode: "plan" } },
      steps: [first],
      answers: [{ type: "approve" }],
      says: "/.git/config",
      asks: [],
    },
  };

  it.each(Object.entries(rows))("%s takes precedence over the entries below", async (_name, row) => {
    const { asked, replies } = await play([...row.steps, ...ENDING], row.given, row.answers);
    expect(asked).toEqual(row.asks);
    expect(replies.join("\n")).toContain(row.says);
    expect(readdirSync(dir)).toEqual([]);
  });

  it.runIf(isIsolated())("isolation holds for a command that everything else allows", async () => {
    const settings = { mode: "auto", sandbox: "always" } as const;
    const outside = `${dir}-outside`;
    await play([run(`echo x > ${outside}; echo x > inside`), "ok"], { settings });
    expect(readdirSync(dir)).toEqual(["inside"]);
    expect(() => readFileSync(outside)).toThrow("ENOENT");
  });
});

it("network and sandbox settings apply to commands, and a thread's own choice wins", async () => {
  const always = await play([run("echo ran"), "ok"], { config: { mode: "auto", sandbox: "never" } });
  expect(always.replies[0]).toContain("ran");
  expect(always.requests[0]!.messages[0]!.text).not.toContain("They can write only there");
});
