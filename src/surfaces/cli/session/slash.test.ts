import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { held, SessionStage, sessionStages } from "../../../../test/helpers/terminal/session.ts";
import { readSkills } from "../../../middleware/skills/read-skills.ts";
import { sqliteSaver } from "../../../storage/index.ts";
import { callTool } from "../../../testing/index.ts";
import { DEFAULT_SETTINGS } from "../../../threads/prepare/settings.ts";
import { settingsOfThread } from "../../../threads/thread/thread-settings.ts";

const [ENTER, ESC, DOWN] = ["\r", "\u001B", "\u001B[B"];
const IDLE = /^> what shall be done/m;
const write = (path: string, content: string) => callTool("write_file", { file_path: path, content });
const LOOK = callTool("ls", { path: "/" });
const PLAN = callTool("write_todos", { todos: ["Dig", "Plant"] });

const stages = sessionStages();

/** Types a line and waits for what it brings. */
async function say(stage: SessionStage, text: string, what: RegExp): Promise<void> {
  stage.type(`${text}${ENTER}`);
  await stage.see(what);
  await stage.until(() => !stage.session.isBusy);
}

describe("threads in a session", () => {
  it("/threads lists the directory's threads, /new starts one, /resume opens another", async () => {
    const stage = await stages.open(["One.", "Two.", "Three."]);
    await say(stage, "/threads", /There are no threads of this directory yet\./);
    await say(stage, "first", /One\./);
    const first = stage.session.thread!.id;
    await say(stage, "/new", /The next message begins a new thread\./);
    await say(stage, "second", /Two\./);
    expect(stage.asked(1)).toEqual(["human: second"]);
    await say(stage, "/threads", /second-\w+ .*\(this one\)/);
    stage.type(`/resume${ENTER}`);
    await stage.see(/Which thread\?[^]*2\. first/);
    stage.type(`${DOWN}${ENTER}`);
    await stage.see(/continuing first-\w+\n\n> first\n\nOne\./);
    expect(stage.session.thread?.id).toBe(first);
    await say(stage, "third", /Three\./);
    expect(stage.asked(2)).toEqual(["human: first", "ai: One.", "human: third"]);
  });

  it("/resume takes the thread's mode, limits and budget, and auto only with isolation", async () => {
    const limits = { maxTurns: 9, budget: { tokens: 100_000 } };
    const stage = await stages.open(["One.", "Two.", "Three."], { settings: { mode: "ask", ...limits } });
    await say(stage, "first", /One\./);
    const first = stage.session.thread!.id;
    await say(stage, "/new", /The next message begins a new thread\./);
    stage.session.settings = { ...DEFAULT_SETTINGS, model: "scripted", dir: stages.home, sandbox: "never" };
    stage.session.setMode("auto");
    await say(stage, "second", /Two\./);
    const second = stage.session.thread!.id;
    await say(stage, `/resume ${first}`, /continuing first-\w+/);
    expect(stage.session.mode).toBe("ask");
    expect(stage.session.settings).toMatchObject(limits);
    await say(stage, `/resume ${second}`, /nothing isolates commands here[^]*continuing second-\w+/);
    expect(stage.session.mode).toBe("ask");
  });

  it("/resume repeats a question that waits in the thread, and /undo knows its outcome", async () => {
    const stage = await stages.open([write("/a.txt", "a"), "Two."]);
    stage.type(`first${ENTER}`);
    await stage.see(/Allow it\?/);
    stage.type(ESC);
    await stage.see(/\/continue resumes it/);
    await stage.until(() => !stage.session.isBusy);
    const first = stage.session.thread!.id;
    await say(stage, "/new", /The next message begins a new thread\./);
    stage.type(`/resume ${first}${ENTER}`);
    await stage.see(/continuing first-\w+\n\n> first\n[^]*Allow it\?/);
    stage.type("1");
    await stage.see(/Two\./);
    await stage.until(() => !stage.session.isBusy);
    expect(readFileSync(join(stages.home, "a.txt"), "utf8")).toBe("a");
    await say(stage, "/undo", /Files put back: \/a\.txt/);
    expect(existsSync(join(stages.home, "a.txt"))).toBe(false);
  });

  it("a session that resumes a thread shows its last message and its open question", async () => {
    const saver = await sqliteSaver(":memory:");
    const before = await stages.open(["**One**.", write("/a.txt", "a")], { saver });
    await say(before, "first", /One\./);
    const { thread } = before.session;
    const later = await SessionStage.open([], { home: stages.home, saver, thread: thread!.id });
    await later.see(/continuing first-\w+\n\n> first\n\nOne\.\n/);
    await later.leave();
    before.type(`second${ENTER}`);
    await before.see(/Allow it\?/);
    before.type(ESC);
    await before.until(() => !before.session.isBusy);
    const asked = await SessionStage.open(["Two."], { home: stages.home, saver, thread: thread!.id });
    await asked.see(/> second[^]*Allow it\?/);
    asked.type("1");
    await asked.see(/Two\./);
    await asked.leave();
    expect(readFileSync(join(stages.home, "a.txt"), "utf8")).toBe("a");
  });

  it("a resumed thread shows no earlier answer under its last message", async () => {
    const saver = await sqliteSaver(":memory:");
    const second = held("Never.");
    const before = await stages.open(["One.", second.step], { saver });
    await say(before, "first", /One\./);
    before.type(`second${ENTER}`);
    await second.begun;
    before.type(ESC);
    await before.see(/Interrupted/);
    second.go();
    await before.until(() => !before.session.isBusy);
    const { thread } = before.session;
    const later = await SessionStage.open([], { home: stages.home, saver, thread: thread!.id });
    await later.see(/> second\n\n+It was stopped in the middle/);
    expect(later.all()).not.toContain("One.");
    await later.leave();
  });

  it("/continue resumes a stopped turn, and says so when nothing is left", async () => {
    const first = held(callTool("ls", { path: "/" }));
    const stage = await stages.open([first.step, LOOK, "Done so."]);
    await say(stage, "/continue", /There is nothing to continue yet/);
    stage.type(`first${ENTER}`);
    await first.begun;
    stage.type(ESC);
    await stage.see(/\/continue resumes it/);
    first.go();
    await say(stage, "/continue", /Done so\./);
    expect(stage.asked(1)).toEqual(["human: first"]);
    await say(stage, "/continue", /It is finished: say what shall be done next/);
  });

  it("/resume takes no thread of another directory, which the user may not trust", async () => {
    const saver = await sqliteSaver(":memory:");
    const elsewhere = join(stages.home, "elsewhere");
    mkdirSync(elsewhere);
    const other = await stages.open(["One."], { home: elsewhere, saver });
    await say(other, "first", /One\./);
    const stage = await stages.open([], { saver });
    await say(
      stage,
      `/resume ${other.session.thread!.id}`,
      /That thread works on\s+\S*elsewhere:\s+holdfast\s+session\s+--thread\s+first/,
    );
    expect(stage.session.thread).toBeUndefined();
  });

  it("/undo takes back the effects of /continue, and then of the message before it", async () => {
    const steps = [
      [PLAN, write("/x.txt", "x")],
      "Later.",
      [
        write("/y.txt", "y"),
        callTool("edit_file", { file_path: "/x.txt", old_string: "x", new_string: "xx" }),
      ],
      "Later still.",
    ];
    const stage = await stages.open(steps, { settings: { mode: "edits", preset: "classic" } });
    await say(stage, "go", /Later\./);
    await say(stage, "/continue", /Later still\./);
    expect(readFileSync(join(stages.home, "x.txt"), "utf8")).toBe("xx");
    stage.type(`/undo${ENTER}`);
    await stage.see(/Files put back: \/y\.txt, \/x\.txt[^]*^> \/continue$/m);
    expect(existsSync(join(stages.home, "y.txt"))).toBe(false);
    expect(readFileSync(join(stages.home, "x.txt"), "utf8")).toBe("x");
    stage.type("\u0015");
    await stage.see(IDLE);
    stage.type(`/undo${ENTER}`);
    await stage.see(/Files put back: \/x\.txt[^]*^> go$/m);
    expect(existsSync(join(stages.home, "x.txt"))).toBe(false);
  });

  it("/undo of a thread's first message empties it, and the next message starts it", async () => {
    const stage = await stages.open([write("/a.txt", "a"), "One.", "Two."], { settings: { mode: "edits" } });
    await say(stage, "first", /One\./);
    const { id } = stage.session.thread!;
    stage.type(`/undo${ENTER}`);
    await stage.see(/Files put back: \/a\.txt[^]*^> first$/m);
    stage.type(` again${ENTER}`);
    await stage.see(/Two\./);
    expect(stage.asked(2)).toEqual(["human: first again"]);
    expect(stage.session.thread!.id).toBe(id);
  });

  it("/undo of a message sent during a turn keeps its files until a second /undo", async () => {
    const first = held(write("/a.txt", "agent"));
    const stage = await stages.open([first.step, "One."], { settings: { mode: "edits" } });
    stage.type(`go${ENTER}`);
    await first.begun;
    stage.type(`be brief${ENTER}${ENTER}`);
    await stage.see(/at its next call: be brief/);
    first.go();
    await stage.see(/One\.[^]*what shall be done/);
    stage.type(`/undo${ENTER}`);
    await stage.see(/handed over amid a turn[^]*> be brief/);
    expect(readFileSync(join(stages.home, "a.txt"), "utf8")).toBe("agent");
    stage.type("\u0003");
    await stage.see(IDLE);
    stage.type(`/undo${ENTER}`);
    await stage.see(/Files put back: \/a\.txt/);
    expect(() => readFileSync(join(stages.home, "a.txt"))).toThrow("ENOENT");
  });

  it("/undo puts nothing back while another process works on the thread", async () => {
    const saver = await sqliteSaver(":memory:");
    const stage = await stages.open([write("/a.txt", "agent"), "One."], {
      settings: { mode: "edits" },
      saver,
    });
    stage.type(`go${ENTER}`);
    await stage.see(/One\.[^]*what shall be done/);
    await stage.until(() => !stage.session.isBusy);
    const release = await saver.acquireThread(stage.session.thread!.id);
    stage.type(`/undo${ENTER}`);
    await stage.see(/is in use by process/);
    expect(readFileSync(join(stages.home, "a.txt"), "utf8")).toBe("agent");
    await release();
    stage.type(`/undo${ENTER}`);
    await stage.see(/Files put back: \/a\.txt/);
  });
});

describe("the plan in a session", () => {
  it("/plan clear removes open items, and /plan approve asks about new plans", async () => {
    const again = callTool("write_todos", { todos: ["Water"] });
    const stage = await stages.open([PLAN, "Later.", again, "Fine."], { settings: { preset: "classic" } });
    await say(stage, "go", /Later\./);
    await say(stage, "/plan clear", /What was not done is off the plan\./);
    await say(stage, "/plan", /There is no plan\./);
    await say(stage, "/plan approve", /New plans wait for your approval/);
    stage.type(`go on${ENTER}`);
    await stage.see(/The agent proposes this plan:\n {2}\[ \] .*Water[^]*Work on this plan\?/);
    stage.type("1");
    await stage.see(/Fine\./);
    expect(stage.session.settings.approve).toBe("first");
  });

  it("a rejected plan returns to the model with the reason", async () => {
    const stage = await stages.open([PLAN, "Understood."], { settings: { approve: "first" } });
    stage.type(`go${ENTER}`);
    await stage.see(/Work on this plan\?/);
    stage.type(`dig deeper${ENTER}`);
    await stage.see(/Understood\./);
    expect(stage.asked(1).at(-1)).toContain("dig deeper");
  });

  it("an unanswered plan is shown again by /plan", async () => {
    const stage = await stages.open([PLAN, "Understood."], { settings: { approve: "first" } });
    stage.type(`go${ENTER}`);
    await stage.see(/Work on this plan\?/);
    stage.type(ESC);
    await stage.until(() => !stage.session.isBusy);
    await say(stage, "/plan foo", /\/plan takes edit, approve or clear, not foo/);
    stage.type(`/plan${ENTER}`);
    await stage.see(/> \/plan\n[^]*Work on this plan\?/);
    stage.type("1");
    await stage.see(/Understood\./);
    expect(stage.asked(1).at(-1)).toMatch(/^tool: /);
  });

  it("a plan that was finished before is not shown with other work", async () => {
    const done = callTool("write_todos", { todos: [{ content: "Dig", status: "completed" }] });
    const second = held("Two.");
    const stage = await stages.open([done, "One.", second.step], { settings: { preset: "classic" } });
    await say(stage, "first", /One\./);
    stage.type(`second${ENTER}`);
    await second.begun;
    await stage.see(/> second/);
    const since = stage.all().split("> second")[1]!;
    expect(since).not.toContain("Dig");
    second.go();
    await stage.see(/Two\.[^]*Done/);
    expect(stage.all().split("> second")[1]).not.toMatch(/Dig|1\/1/);
  });

  it("a plan with only blocked items left is shown with other work", async () => {
    const block = callTool("update_todos", { block: "1: no spade" });
    const second = held("Two.");
    const steps = [callTool("write_todos", { todos: ["Dig"] }), block, "One.", second.step];
    const stage = await stages.open(steps);
    await say(stage, "first", /One\.[^]*what shall be done/);
    stage.type(`second${ENTER}`);
    await second.begun;
    await stage.see(/> second[^]*1 Dig[^]*0\/1 thinking/);
    expect(stage.all()).not.toContain("no plan");
    second.go();
    await stage.see(/Two\./);
  });
});

describe("settings in a session", () => {
  it("/mode says what there is; auto without isolation is a question", async () => {
    const stage = await stages.open([], { settings: { sandbox: "never" } });
    await say(stage, "/mode", /❯ ask: asks before writes and commands/);
    stage.type(`/mode auto${ENTER}`);
    await stage.see(/Nothing isolates commands here[^]*1\. no/);
    stage.type("1");
    await say(stage, "/mode edits", /Mode edits: writes files, asks before commands\./);
    stage.type(`/mode auto${ENTER}`);
    await stage.see(/2\. yes, I answer for it/);
    stage.type("2");
    await stage.see(/auto \(shift-tab\)/);
    expect(stage.session.mode).toBe("auto");
  });

  it("/model says which one answers, and has another answer", async () => {
    const stage = await stages.open([]);
    await say(stage, "/model", /scripted \(\/model provider:name changes it\)/);
    await say(stage, "/model other", /scripted answers from now on\./);
    expect(stage.model.requests).toHaveLength(0);
  });

  it("/effort shows the model's effort, and changes it for the thread's next runs", async () => {
    const saver = await sqliteSaver(":memory:");
    const stage = await stages.open(["Done."], { saver });
    await say(stage, "/effort", /Effort: as the model decides\. \/effort off\|low/);
    await say(stage, "/effort high", /Effort high from now on\./);
    await say(stage, "/effort", /Effort: high\./);
    await say(stage, "go", /Done\./);
    expect(await settingsOfThread(saver, stage.session.thread!.id)).toMatchObject({ effort: "high" });
  });

  it("/allow adds a rule and lists it with its place", async () => {
    const stage = await stages.open([
      callTool("write_file", { file_path: "/a.txt", content: "a" }),
      "Written.",
    ]);
    await say(stage, "/allow", /No call is always allowed here\./);
    await say(stage, "/allow write_file(/a.*)", /allowed from now on: write_file\(\/a\.\*\)/);
    await say(stage, "/allow", /kept in\s+\S*allowed\.json/);
    await say(stage, "go", /Written\./);
    expect(readFileSync(join(stages.home, "a.txt"), "utf8")).toBe("a");
  });

  it("/allow refuses an invalid rule", async () => {
    const stage = await stages.open([]);
    await say(stage, "/allow write_file(/a.*)", /allowed from now on/);
    await say(stage, "/allow git push", /"git push" is no rule/);
    expect(await stage.session.allowed?.rules()).toEqual(["write_file(/a.*)"]);
    expect(stage.session.project.config.allow).toEqual(["write_file(/a.*)"]);
  });

  it("/tools names what there is", async () => {
    const stage = await stages.open([], { settings: { shell: false } });
    await say(stage, "/tools", /tools: ls, read_file/);
    expect(stage.all()).not.toContain("execute");
    expect(stage.all()).not.toContain("web_");
  });
});

describe("texts and skills in a session", () => {
  it("/export with .json has every event, and overwrites nothing", async () => {
    const stage = await stages.open(["Here."]);
    await say(stage, "/export", /There is nothing to export yet\./);
    await say(stage, "go", /Here\./);
    await say(stage, "/export all.json", /Written to .*all\.json/);
    const events = readFileSync(join(stages.home, "all.json"), "utf8").trim().split("\n");
    expect(events.map((line) => (JSON.parse(line) as { type: string }).type)).toContain("model-end");
    await say(stage, "/export all.html", /Written to .*all\.html/);
    expect(readFileSync(join(stages.home, "all.html"), "utf8")).toMatch(/^<!doctype html>[^]*Here\./);
    writeFileSync(join(stages.home, "mine.md"), "mine");
    await say(stage, "/export mine.md", /mine\.md\s+cannot\s+be\s+written:\s+it\s+is\s+there\s+already\./);
    expect(readFileSync(join(stages.home, "mine.md"), "utf8")).toBe("mine");
  });

  it("a skill is a command: completed, in the help, and sent with its text", async () => {
    mkdirSync(join(stages.home, "skills/review"), { recursive: true });
    const text = "---\nname: review\ndescription: How we review\n---\nLook twice.";
    writeFileSync(join(stages.home, "skills/review/SKILL.md"), text);
    const { skills } = await readSkills([join(stages.home, "skills")]);
    const stage = await stages.open(["Reviewed."], { project: { skills } });
    stage.type("/rev");
    await stage.see(/\/review/);
    stage.type("\u0015");
    await say(stage, "/help", /\/review +How we review/);
    await say(stage, "/review the diff", /Reviewed\./);
    expect(stage.asked(0)).toEqual([expect.stringMatching(/^human: \/review the diff\n[^]*Look twice\./)]);
  });

  it("/quit leaves, also while the agent works", async () => {
    const first = held("Never.");
    const stage = await stages.open([first.step]);
    stage.type(`go${ENTER}`);
    await first.begun;
    stage.type(`/quit${ENTER}`);
    await stage.done;
    first.go();
    expect(existsSync(join(stages.home, "state/history"))).toBe(true);
  });
});
