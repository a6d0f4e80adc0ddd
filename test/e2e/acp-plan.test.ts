import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { methods, type PlanEntry } from "@agentclientprotocol/sdk";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { Todo } from "../../src/plan/index.ts";
import { planEditContract, type ModelTurn, type PlanSurface } from "../contracts/plan-edits.ts";
import { startEditor, type Editor } from "../helpers/acp/editor.ts";
import { calls, says } from "../helpers/models/chat-stream.ts";
import { startModelServer, type ModelServer } from "../helpers/models/model-server.ts";

const EDIT = "_holdfast/plan/edit";
const SHOW = "_holdfast/plan/show";
/** A loaded machine is slow, not wrong. */
const SLOWLY = { timeout: 120_000 };
const STOPS = Array.from({ length: 3 }, () => says("Later."));
const done = (ids: string) => calls(["update_todos", { done: ids, note: "by hand" }]);
const begun = (...todos: string[]) => calls(["write_todos", { todos }]);
/** A step that goes on until there is a file `go`. */
const waits = (): string =>
  calls(["execute", { command: "touch started; while ! test -e go; do sleep 0.05; done" }]);
/** A step of the model; one that returns nothing is over. */
type ModelStep = (texts: readonly string[]) => Promise<string | undefined>;
/** Steps until the model hears of something. */
const waitsFor =
  (words: string): ModelStep =>
  async (texts) =>
    texts.some((text) => text.includes(words))
      ? undefined
      : calls(["execute", { command: `sleep 0.1; true ${texts.length}` }]);
const replyOf = (reply: Awaited<ReturnType<ModelTurn>>): string =>
  typeof reply === "string" ? says(reply) : calls([reply.name, reply.args]);

let home: string;
let dir: string;
let script: (string | ModelStep)[];
let model: ModelServer;
let editor: Editor;
/** Another process, on the same threads. */
let other: Editor;

beforeAll(async () => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-acp-plan-")));
  model = await startModelServer(async ({ messages }) => {
    const texts = (messages as { content: unknown }[]).map(({ content }) => textOf(content));
    const [first] = script;
    const waiting = typeof first === "function" ? await first(texts) : undefined;
    if (typeof first === "function" && waiting === undefined) script.shift();
    return { status: 200, body: waiting ?? (script.shift() as string | undefined) ?? says("ok") };
  });
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    HOLDFAST_STATE: join(home, "threads.db"),
    HOLDFAST_MODEL: "openai-compatible:m",
    HOLDFAST_BASE_URL: `${model.url}/v1`,
  };
  const start = () => startEditor({ cwd: home, env, flags: ["--mode", "auto"], permit: () => "approve" });
  [editor, other] = await Promise.all([start(), start()]);
});
afterAll(async () => {
  await Promise.all([editor, other].map((one) => one.end()));
  model.stop();
  rmSync(home, { recursive: true });
});
beforeEach(() => {
  dir = mkdtempSync(join(home, "project-"));
  script = [];
  model.requests.length = 0;
  for (const one of [editor, other]) one.clear();
});

const begin = async (): Promise<string> =>
  (await editor.agent.request(methods.agent.session.new, { cwd: dir, mcpServers: [] })).sessionId;
/** A session with a plan that nobody works on. */
const stopped = async (...todos: string[]): Promise<string> => {
  script = [begun(...todos), ...STOPS];
  const session = await begin();
  await editor.prompt(session, "Garden");
  model.requests.length = 0;
  return session;
};
/** A session whose prompt is in the middle of a step until `go`. */
const working = async (plan: string, ...rest: typeof script) => {
  script = [plan, waits(), ...rest];
  const session = await begin();
  const answer = editor.prompt(session, "Garden");
  await vi.waitFor(() => expect(existsSync(join(dir, "started"))).toBe(true), SLOWLY);
  return { session, answer, go: () => writeFileSync(join(dir, "go"), "") };
};
const entries = ({ updates }: Editor): PlanEntry[][] =>
  updates.flatMap((update) => (update.sessionUpdate === "plan" ? [update.entries] : []));
/** The plans that an editor was told of, as an edit is made of them. */
const plans = (one: Editor): Todo[][] =>
  entries(one).map((list) => list.map(({ _meta }) => (_meta as { holdfast: Todo }).holdfast));
const told = (one = editor): Todo[] => plans(one).at(-1) ?? [];
const edit = ({ agent }: Editor, sessionId: string, todos: readonly unknown[], base: readonly unknown[]) =>
  agent.request<{ todos: Todo[] }>(EDIT, { sessionId, todos, base });
const lines = (todos: readonly Todo[]): string[] =>
  todos.map(({ id, content, status }) => `${id} ${content} ${status}`);
const plan = async (session: string): Promise<string[]> =>
  lines((await editor.agent.request<{ todos: Todo[] }>(SHOW, { sessionId: session })).todos);
const textOf = (content: unknown): string =>
  typeof content === "string" ? content : JSON.stringify(content ?? "");
/** What the model was sent, message by message. */
const sent = (at: number): { role: string; content: unknown }[] =>
  model.requests.at(at)!.body["messages"] as never;

function planInEditor(): PlanSurface {
  let session: string | undefined;
  return {
    run: async (turn) => {
      script = [async (texts) => replyOf(await turn(texts))];
      session ??= await begin();
      expect(await editor.prompt(session, "Garden")).toEqual({ stopReason: "end_turn" });
    },
    plan: async () => (await editor.agent.request<{ todos: Todo[] }>(SHOW, { sessionId: session })).todos,
    edit: async (todos, base) => {
      try {
        const made = await edit(editor, session!, todos, base);
        await vi.waitFor(() => expect(plans(editor).map(lines)).toContainEqual(lines(made.todos)), SLOWLY);
        return made.todos;
      } catch (error) {
        const { code, message, data } = error as { code: number; message: string; data: object };
        expect([code, message]).toEqual([-32_602, expect.stringMatching(/^The plan was not changed.+$/)]);
        throw Object.assign(new Error(message), data);
      }
    },
  };
}

describe("the plan method of an editor", () => {
  it("is announced, and gives the plan that an edit is based on", async () => {
    expect(editor.hello.agentCapabilities?.["_meta"]).toEqual({
      holdfast: { plan: { show: SHOW, edit: EDIT } },
    });
    const session = await stopped("Dig", "Plant");
    expect(told()).toEqual([
      { id: "1", content: "Dig", status: "in_progress" },
      { id: "2", content: "Plant", status: "pending" },
    ]);
    expect(await editor.agent.request(SHOW, { sessionId: session })).toEqual({ todos: told(), rules: [] });
  });

  it("shows the rules before the items, and lets an editor change them", async () => {
    const session = await stopped("Dig", "Plant");
    const { todos: base } = await editor.agent.request<{ todos: Todo[] }>(SHOW, { sessionId: session });
    const rules = ["no spades"];
    await editor.agent.request(EDIT, { sessionId: session, todos: base, base, rules });
    await vi.waitFor(
      () =>
        expect(entries(editor).at(-1)?.[0]).toMatchObject({
          content: "Rule: no spades",
          status: "in_progress",
        }),
      SLOWLY,
    );
    expect(await editor.agent.request(SHOW, { sessionId: session })).toMatchObject({ rules });
    editor.said();
    await editor.prompt(session, "/plan");
    expect(editor.said()).toContain("```markdown\nRules:\n- no spades\n\n- [>] #1: Dig");
    await editor.prompt(
      session,
      "/plan edit\nRules:\n- no spades\n- no noise\n\n- [>] #1: Dig\n- [ ] #2: Plant",
    );
    expect(await editor.agent.request(SHOW, { sessionId: session })).toMatchObject({
      rules: ["no spades", "no noise"],
    });
  });

  planEditContract(planInEditor);

  it("refuses an invalid edit in one line, and starts a plan in a session without one", async () => {
    const session = await begin();
    const without = editor.agent.request(EDIT, { sessionId: session, todos: [] });
    await expect(without).rejects.toMatchObject({
      code: -32_602,
      message: expect.stringMatching(/^base: .+$/),
    });
    await expect(edit(editor, session, [], [7])).rejects.toThrow(/^base\.0: /);
    await expect(edit(editor, "nowhere", [], [])).rejects.toThrow(/not found/i);
    await edit(editor, session, ["Rest"], []);
    expect(lines(told())).toEqual(["1 Rest pending"]);
    expect(model.requests).toEqual([]);
  });

  it("edits the plan of a session that another process runs", async () => {
    const { session, answer, go } = await working(
      begun("Dig", "Plant"),
      waitsFor("Water"),
      done("1,2,3"),
      says("Grown."),
    );
    await other.agent.request(methods.agent.session.resume, { sessionId: session, cwd: dir, mcpServers: [] });
    // What waits can be taken back.
    const stop = new AbortController();
    const back = other.agent.request(
      EDIT,
      { sessionId: session, todos: [...told(), "Weed"], base: told() },
      { cancellationSignal: stop.signal },
    );
    stop.abort();
    await expect(back).rejects.toThrow("The edit was withdrawn.");
    await other.prompt(session, "/plan");
    const typed = other.prompt(session, "/plan edit - [ ] Weed");
    // It has been read when something else is answered.
    await other.agent.request(SHOW, { sessionId: session });
    await other.agent.notify(methods.agent.session.cancel, { sessionId: session });
    expect(await typed).toEqual({ stopReason: "cancelled" });
    const made = edit(other, session, [...told(), "Water"], told());
    go();
    const now = ["1 Dig in_progress", "2 Plant pending", "3 Water pending"];
    expect(lines((await made).todos)).toEqual(now);
    expect(lines(told(other))).toEqual(now);
    expect(await answer).toEqual({ stopReason: "end_turn" });
    expect(await plan(session)).toEqual(["1 Dig completed", "2 Plant completed", "3 Water completed"]);
  });
});

describe("/plan in an editor", () => {
  it("is offered before the skills, and shows the plan without a call of the model", async () => {
    for (const name of ["plan", "weed"]) {
      const skill = join(home, ".agents/skills", name);
      mkdirSync(skill, { recursive: true });
      writeFileSync(join(skill, "SKILL.md"), `---\nname: ${name}\ndescription: A skill\n---\nDo it.`);
    }
    const session = await stopped("Dig", "Plant");
    const offered = editor.updates.find((update) => update.sessionUpdate === "available_commands_update")!;
    expect(offered).toMatchObject({
      availableCommands: [
        { name: "plan", input: { hint: "[edit|approve|clear]" } },
        { name: "undo" },
        { name: "compact" },
        { name: "fork" },
        { name: "weed" },
      ],
    });
    editor.said();
    expect(await editor.prompt(session, "/plan")).toEqual({ stopReason: "end_turn" });
    expect(editor.said()).toContain("```markdown\n- [>] #1: Dig\n- [ ] #2: Plant\n```");
    expect(await editor.prompt(session, "/plan water")).toEqual({ stopReason: "end_turn" });
    expect(editor.said().trim()).toBe("/plan takes edit, approve or clear, not water.");
    expect(model.requests).toEqual([]);
  });

  it("edit replaces the shown plan with the whole list, and clear removes open items", async () => {
    const session = await stopped("Dig", "Plant");
    editor.said();
    // Nobody can have kept the ids who has not seen them.
    await editor.prompt(session, "/plan edit\n- [ ] Water");
    expect(editor.said()).toContain("Nothing was changed.\n\n```markdown\n- [>] #1: Dig");
    script = [done("1"), ...STOPS];
    await editor.prompt(session, "Go on");
    model.requests.length = 0;
    editor.said();
    await editor.prompt(session, "/plan edit\n- [>] #1: Dig\n- [ ] #2: Plant tulips\n- [ ] Water");
    expect(editor.said()).toMatch(
      /Saved: .*2 has content "Plant tulips"; .*The agent hears of it at its next call, in this run or with your next message\.\n[^]*- \[x\] #1: Dig\n(?: {2}.*\n)*- \[>\] #2: Plant tulips\n- \[ \] #3: Water\n/,
    );
    await editor.prompt(session, "/plan edit - [?] Water");
    expect(editor.said().trim()).toMatch(/^Line 1: "\[\?\]" is not a mark; use .*$/);
    await editor.prompt(session, "/plan clear");
    expect(editor.said()).toMatch(
      /What was not done is off the plan\. The agent hears of it at its next call, .*\n\n```markdown\n- \[x\] #1: Dig\n(?: {2}.*\n)*```/,
    );
    expect(await plan(session)).toEqual(["1 Dig completed"]);
    await editor.prompt(session, "/plan edit\n- [x] #1: Dig\n- [ ] Plant");
    expect(await plan(session)).toEqual(["1 Dig completed", "2 Plant pending"]);
    expect(model.requests).toEqual([]);
  });

  it("works during a running prompt, and says where the agent changed the same item", async () => {
    const { session, answer, go } = await working(
      begun("Dig", "Plant"),
      waitsFor("tulips"),
      done("1,2"),
      says("Grown."),
    );
    await editor.prompt(session, "/plan");
    expect(editor.said()).toContain("- [>] #1: Dig");
    const made = editor.prompt(session, "/plan edit\n- [>] #1: Dig\n- [ ] #2: Plant tulips");
    go();
    expect(await made).toEqual({ stopReason: "end_turn" });
    expect(await answer).toEqual({ stopReason: "end_turn" });
    expect(editor.said()).toContain('2 has content "Plant tulips"');
    await editor.prompt(session, "/plan edit\n- [>] #1: Dig deep\n- [ ] #2: Plant tulips");
    expect(editor.said()).toMatch(
      /it has moved on meanwhile\. You changed the same as the agent: .*1 is now completed\.\n\n```markdown\n- \[x\] #1: Dig\n/,
    );
  });

  it("approve has the next plan approved, and words for a question stay its answer", async () => {
    script = [begun("Dig", "Plant"), calls(["ask_clarification", { question: "Where?" }])];
    const session = await begin();
    await editor.prompt(session, "Garden");
    await editor.prompt(session, "/plan edit");
    await editor.prompt(session, "/plan edit\n- [>] #1: Dig\n- [ ] #2: Plant tulips");
    await editor.prompt(session, "/plan approve");
    script = [done("1,2"), says("Grown.")];
    await editor.prompt(session, "At the wall");
    expect(JSON.stringify(sent(2))).toContain("The user answers: At the wall");
    expect(await plan(session)).toEqual(["1 Dig completed", "2 Plant tulips completed"]);
    script = [begun("Rest", "Sleep"), done("1,2"), says("Rested.")];
    await editor.prompt(session, "Another");
    expect(editor.asked.map(({ toolCall }) => toolCall.title)).toContain("Work on this plan?");
  });
});
