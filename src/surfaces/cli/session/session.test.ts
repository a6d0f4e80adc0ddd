import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AIMessage } from "@langchain/core/messages";
import { describe, expect, it, vi } from "vitest";
import { actionContract } from "../../../../test/contracts/actions.ts";
import { stepOf } from "../../../../test/contracts/plan-edits.ts";
import { held, sessionStages } from "../../../../test/helpers/terminal/session.ts";
import { sqliteSaver } from "../../../storage/index.ts";
import { callTool, type Step } from "../../../testing/index.ts";
import type { Session } from "./session.ts";

const [CLEAR, ENTER, ESC, UP, DOWN, SHIFT_TAB, CTRL_O] = [
  "\u0015",
  "\r",
  "\u001B",
  "\u001B[A",
  "\u001B[B",
  "\u001B[Z",
  "\u000F",
];
const IDLE = /^> what shall be done/m;
const LOOK = callTool("ls", { path: "/" });
const READ = callTool("read_file", { file_path: "/a.txt" });
const write = (path: string, content: string) => callTool("write_file", { file_path: path, content });

const stages = sessionStages();

/** Agents wait, as where servers have to be started, until they are let go. */
function slowStart(session: Session): () => void {
  let go = (): void => {};
  const gate = new Promise<void>((resolve) => (go = resolve));
  const servers = session.servers.bind(session);
  session.servers = async () => {
    await gate;
    return servers();
  };
  return go;
}

describe("a session", () => {
  it("takes a message, shows the answer as Markdown, and waits for the next", async () => {
    const stage = await stages.open(["# Hello\n\nThis is **it**:\n\n- one\n- two", "Again."]);
    stage.type(`Say hello${ENTER}`);
    await stage.see(/Done/);
    await stage.see(IDLE);
    expect(stage.all()).toContain("> Say hello\n\nHello\n\nThis is it:\n\n• one\n• two\n");
    stage.type(`Once more${ENTER}`);
    await stage.see(/Again\.[^]*Done/);
    expect(stage.asked(1).at(-1)).toBe("human: Once more");
    expect(stage.asked(1)).toHaveLength(3);
  });

  it("queues and shows messages typed during a turn, and sends them in order", async () => {
    const first = held("One.");
    const stage = await stages.open([first.step, "Two.", "Three."]);
    stage.type(`first${ENTER}`);
    await first.begun;
    stage.type(`second${ENTER}third${ENTER}`);
    await stage.see(/queued: second\nqueued: third\n> Enter hands the queue to the agent at its next call/);
    stage.type("draft");
    await stage.see(/queued: second\nqueued: third\n> draft/);
    first.go();
    await stage.see(/Three\./);
    await stage.see(/> draft/);
    expect(stage.asked(2).filter((one) => one.startsWith("human"))).toEqual([
      "human: first",
      "human: second",
      "human: third",
    ]);
  });

  it("sends queued messages with the next model call on an empty Enter, after results", async () => {
    const first = held(LOOK);
    const stage = await stages.open([first.step, "Done so."]);
    stage.type(`go${ENTER}`);
    await first.begun;
    stage.type(`be brief${ENTER}`);
    await stage.see(/queued: be brief/);
    stage.type(ENTER);
    await stage.see(/at its next call: be brief\n> type ahead; Esc stops$/m);
    first.go();
    await stage.see(/Done so\./);
    expect(stage.asked(1).map((one) => one.split(":")[0])).toEqual(["human", "ai", "tool", "human"]);
    expect(stage.all()).toContain("> be brief");
    expect(stage.model.requests).toHaveLength(2);
  });

  it("sends a message that is too late for the last call as the next message", async () => {
    const first = held("One.");
    const stage = await stages.open([first.step, "Two."]);
    stage.type(`go${ENTER}`);
    await first.begun;
    stage.type(`late${ENTER}${ENTER}`);
    await stage.see(/at its next call: late/);
    first.go();
    await stage.see(/Two\./);
    expect(stage.asked(1).at(-1)).toBe("human: late");
  });

  it("takes back a queued message with the arrow key", async () => {
    const first = held("One.");
    const stage = await stages.open([first.step]);
    stage.type(`go${ENTER}`);
    await first.begun;
    stage.type(`wrong${ENTER}`);
    await stage.see(/queued: wrong/);
    stage.type(UP);
    await stage.see(/> wrong/);
    expect(stage.lines().join("\n")).not.toContain("queued");
    first.go();
    await stage.see(/One\./);
  });

  it("stops on Esc, keeps the draft, and continues with the next message", async () => {
    const first = held("Never.");
    const stage = await stages.open([first.step, "Here."]);
    stage.type(`go${ENTER}`);
    await first.begun;
    stage.type("half a thou");
    await stage.see(/> half a thou/);
    stage.type(ESC);
    await stage.see(/Interrupted/);
    first.go();
    stage.type(`ght${ENTER}`);
    await stage.see(/Here\./);
    expect(stage.asked(1).at(-1)).toBe("human: half a thought");
  });

  it("takes a message after a dismissed question for a new one, and not for its answer", async () => {
    const question = callTool("ask_clarification", { question: "Which bed?" });
    const stage = await stages.open([question, "Listed."]);
    stage.type(`go${ENTER}`);
    await stage.see(/Which bed\?/);
    stage.type(ESC);
    await stage.until(() => !stage.session.isBusy);
    stage.type(`list the tools${ENTER}`);
    await stage.see(/Listed\./);
    expect(stage.asked(1).at(-1)).toBe("human: list the tools");
  });

  it("puts queued messages back into the prompt on Esc, before the draft", async () => {
    const first = held("Never.");
    const stage = await stages.open([first.step, "Here."]);
    stage.type(`go${ENTER}`);
    await first.begun;
    stage.type(`one${ENTER}two${ENTER}three`);
    await stage.see(/queued: one\nqueued: two[^]*> three/);
    stage.type(ESC);
    await stage.see(/Interrupted[^]*> one\n {2}two\n {2}three/);
    first.go();
    await stage.until(() => !stage.session.isBusy);
    expect(stage.model.requests).toHaveLength(1);
    stage.type(ENTER);
    await stage.see(/Here\./);
    expect(stage.asked(1).at(-1)).toBe("human: one\ntwo\nthree");
  });

  it.each(["a command", "a model call"])(
    "puts unsent messages on Esc during %s back into the prompt, without a model call",
    async (what) => {
      const never = held("Never.");
      const sleep = callTool("execute", { command: "echo begun; sleep 600" });
      const stage = await stages.open([what === "a command" ? sleep : never.step, "Here."], {
        settings: { shell: true, sandbox: "never", mode: "auto" },
      });
      stage.type(`go${ENTER}`);
      await (what === "a command" ? stage.see(/echo begun/) : never.begun);
      stage.type(`one${ENTER}${ENTER}two${ENTER}${ENTER}three${ENTER}`);
      await stage.see(/at its next call: one\nat its next call: two\nqueued: three/);
      stage.type(ESC);
      await stage.see(/> one\n {2}two\n {2}three$/m);
      never.go();
      await stage.until(() => !stage.session.isBusy);
      expect(stage.model.requests).toHaveLength(1);
      stage.type(ENTER);
      await stage.see(/Here\./);
      expect(stage.asked(1).at(-1)).toBe("human: one\ntwo\nthree");
    },
  );

  it("stops a turn on Esc during its setup, sends nothing, and restores the message", async () => {
    const saver = await sqliteSaver(":memory:");
    const stage = await stages.open(["Sent."], { saver });
    const go = slowStart(stage.session);
    try {
      stage.type(`go${ENTER}`);
      await stage.see(/type ahead; Esc stops/);
      stage.type(ESC);
      await stage.see(/stopping; press again to leave/);
    } finally {
      go();
    }
    await stage.see(/your message is in the prompt again[^]*> go$/m);
    await stage.until(() => !stage.session.isBusy);
    expect(stage.model.requests).toHaveLength(0);
    expect(stage.session.thread).toBeUndefined();
    stage.type(ENTER);
    await stage.see(/Sent\./);
    expect(await saver.listThreads()).toHaveLength(1);
  });

  it("calls no model for a turn that is being set up when the user leaves", async () => {
    const stage = await stages.open(["Sent."]);
    const go = slowStart(stage.session);
    try {
      stage.type(`go${ENTER}`);
      await stage.see(/type ahead; Esc stops/);
      stage.session.quit();
    } finally {
      go();
    }
    await stage.done;
    expect(stage.model.requests).toHaveLength(0);
  });

  it("starts a thread with the first message that reaches it, not with a failed one", async () => {
    const saver = await sqliteSaver(":memory:");
    const stage = await stages.open(["Painted."], { saver });
    const { session } = stage;
    const servers = session.servers.bind(session);
    session.servers = () => {
      session.servers = servers;
      return Promise.reject(new Error("The server x cannot be started."));
    };
    stage.type(`Mend the gate${ENTER}`);
    await stage.see(/The server x cannot be started\./);
    await stage.see(/^> Mend the gate$/m);
    expect(session.thread).toBeUndefined();
    stage.type(`${CLEAR}Paint the fence${ENTER}`);
    await stage.see(/Painted\./);
    await stage.until(() => !session.isBusy);
    expect(await saver.listThreads()).toMatchObject([
      { id: expect.stringMatching(/^paint-the-fence/), title: "Paint the fence" },
    ]);
  });

  it("leaves at the second Ctrl-C, and at Ctrl-D", async () => {
    const stage = await stages.open([]);
    stage.type("\u0003");
    await stage.see(/Ctrl-C again leaves/);
    stage.type("\u0003");
    await stage.done;
    const other = await stages.open([]);
    other.type("\u0004");
    await expect(other.done).resolves.toBeUndefined();
  });

  it("takes no notice of Ctrl-Z on Windows, where it would end it", async () => {
    const stage = await stages.open([]);
    const platform = Object.getOwnPropertyDescriptor(process, "platform")!;
    const kill = vi.spyOn(process, "kill").mockReturnValue(true);
    Object.defineProperty(process, "platform", { ...platform, value: "win32" });
    try {
      stage.type("\u001Ahere");
      await stage.see(/^> here$/m);
      expect(kill).not.toHaveBeenCalled();
    } finally {
      Object.defineProperty(process, "platform", platform);
      kill.mockRestore();
    }
  });

  it("gives a paste of 5,000 lines to the model as one message, whole", async () => {
    const stage = await stages.open(["Read."]);
    const long = Array.from({ length: 5000 }, (_, at) => `line ${at}`).join("\n");
    stage.type(`\u001B[200~${long.replaceAll("\n", "\r")}\u001B[201~`);
    await stage.see(/> \[pasted #1: 5,000 lines\]/);
    stage.type(` please${ENTER}`);
    await stage.see(/Read\./);
    expect(stage.asked(0)).toEqual([`human: ${long} please`]);
  });

  it("remembers typed messages in the next session", async () => {
    const stage = await stages.open(["One."]);
    stage.type(`remember me${ENTER}`);
    await stage.see(/One\./);
    const other = await stages.open([]);
    other.type(UP);
    await other.see(/> remember me/);
    expect(other.model.requests).toHaveLength(0);
  });

  it("completes commands and files", async () => {
    const stage = await stages.open(["Read."]);
    stage.type("/exp");
    await stage.see(/\/export/);
    stage.type("\t");
    await stage.see(/> \/export $/m);
    stage.type("\u0015see @a.t");
    await stage.see(/@src\/a\.ts/);
    stage.type(`${ENTER}${ENTER}`);
    await stage.see(/Read\./);
    expect(stage.asked(0)).toEqual(["human: see @src/a.ts"]);
  });
});

describe("consent in a session", () => {
  it("shows a write as a diff, and lets it through once", async () => {
    writeFileSync(join(stages.home, "a.txt"), "one\ntwo\n");
    const edit = callTool("edit_file", { file_path: "/a.txt", old_string: "two", new_string: "three" });
    const stage = await stages.open([READ, edit, "Changed."]);
    stage.type(`go${ENTER}`);
    await stage.see(/1\. yes[^]*> or type why not/);
    expect(stage.all()).toContain("edit a.txt +1 −1\n one\n-two\n+three\n");
    expect(readFileSync(join(stages.home, "a.txt"), "utf8")).toBe("one\ntwo\n");
    stage.type("1");
    await stage.see(/Changed\./);
    expect(stage.all()).toContain("✓ edit a.txt +1 −1");
    expect(readFileSync(join(stages.home, "a.txt"), "utf8")).toBe("one\nthree\n");
  });

  it("shows the diff of a write to a file named by host address, also through a link", async () => {
    const dir = join(stages.home, "work");
    mkdirSync(dir);
    symlinkSync(dir, join(stages.home, "link"));
    writeFileSync(join(dir, "a.txt"), "one\ntwo\nthree\n");
    const address = join(stages.home, "link/a.txt");
    const steps = [callTool("read_file", { file_path: address }), write(address, "four\n"), "Written."];
    const stage = await stages.open(steps, { settings: { dir: join(stages.home, "link") } });
    stage.type(`go${ENTER}`);
    await stage.see(/^write a\.txt \+1 −3\n-one\n-two\n-three\n\+four\n[^]*Allow it\?/m);
    stage.type("1");
    await stage.see(/Written\./);
    expect(readFileSync(join(dir, "a.txt"), "utf8")).toBe("four\n");
  });

  it("stores a folder rule outside the folder, applies it at once, and can revoke it", async () => {
    const stage = await stages.open([
      write("/src/a.ts", "a"),
      write("/src/b.ts", "b"),
      "Done so.",
      write("/src/c.ts", "c"),
      "Asked.",
    ]);
    stage.type(`go${ENTER}`);
    await stage.see(/2\. yes, and always writes in \/src\/[^]*> or type why not/);
    stage.type(`${ENTER}${DOWN}${DOWN}`);
    await stage.see(/❯ 2\. yes/);
    stage.type(ENTER);
    await stage.see(/Done so\./);
    expect(readFileSync(join(stages.home, "src/b.ts"), "utf8")).toBe("b");
    const kept = readFileSync(join(stages.home, "state/holdfast/allowed.json"), "utf8");
    expect(kept).toContain("write_file(/src/**)");
    stage.type(`/allow remove write_file(/src/**)${ENTER}`);
    await stage.see(/is asked for again/);
    stage.type(`again${ENTER}`);
    await stage.see(/Allow it\?/);
    stage.type("1");
    await stage.see(/Asked\./);
  });

  it("a question does not take words that the user is still typing", async () => {
    const first = held(write("/a.txt", "a"));
    const stage = await stages.open([first.step, "Written."]);
    stage.type(`go${ENTER}`);
    await first.begun;
    stage.type("I was just say");
    await stage.see(/> I was just say/);
    first.go();
    await stage.see(/Allow it\?/);
    stage.type(`ing 1${ENTER}`);
    await stage.see(/queued: I was just saying 1/);
    stage.type("1");
    await stage.see(/✓ write a\.txt/);
    stage.type(UP);
    expect(readFileSync(join(stages.home, "a.txt"), "utf8")).toBe("a");
  });

  it("ask rules and files that other programs run need consent after a mode change", async () => {
    const first = held([write("/a.txt", "a"), write("/.envrc", "x")]);
    const stage = await stages.open([first.step, "Written."], { settings: { ask: ["write_file(/a.txt)"] } });
    stage.type(`go${ENTER}`);
    await first.begun;
    stage.type(SHIFT_TAB);
    await stage.see(/edits \(shift-tab\)/);
    first.go();
    await stage.see(/Allow it\?/);
    stage.type("1");
    await stage.see(/write \.envrc[^]*Allow it\?/);
    expect(() => readFileSync(join(stages.home, ".envrc"))).toThrow("ENOENT");
    stage.type("1");
    await stage.see(/Written\./);
  });

  it("the mode changes with a key, also while the agent works", async () => {
    const first = held(write("/a.txt", "a"));
    const stage = await stages.open([first.step, "Written."]);
    expect(stage.lines().at(-1)).toContain("ask (shift-tab)");
    stage.type(`go${ENTER}`);
    await first.begun;
    stage.type(SHIFT_TAB);
    await stage.see(/edits \(shift-tab\)/);
    first.go();
    await stage.see(/Written\./);
    expect(readFileSync(join(stages.home, "a.txt"), "utf8")).toBe("a");
  });

  it("a stricter mode and a revoked rule apply to the current turn", async () => {
    const [first, second] = [held(write("/a.txt", "a")), held(write("/src/b.txt", "b"))];
    const stage = await stages.open([first.step, second.step, "Written."], { settings: { mode: "auto" } });
    stage.type(`/allow write_file(/src/**)${ENTER}`);
    await stage.see(/allowed from now on/);
    stage.type(`go${ENTER}`);
    await first.begun;
    stage.type(`/mode ask${ENTER}`);
    await stage.see(/ask \(shift-tab\)/);
    first.go();
    await stage.see(/Allow it\?/);
    stage.type("1");
    await second.begun;
    stage.type(`/allow remove write_file(/src/**)${ENTER}`);
    await stage.see(/is asked for again/);
    second.go();
    await stage.see(/write src\/b\.txt[^]*Allow it\?/);
    expect(() => readFileSync(join(stages.home, "src/b.txt"))).toThrow("ENOENT");
    stage.type("1");
    await stage.see(/Written\./);
  });
});

describe("commands of a session", () => {
  it("an unknown one names the nearest, and costs no model call", async () => {
    const stage = await stages.open([]);
    stage.type(`/modle${ENTER}`);
    await stage.see(/There is no command \/modle; did you mean \/model\?/);
    stage.type(`/help${ENTER}`);
    await stage.see(/Ctrl-Z suspends/);
    expect(stage.all()).toContain("/undo ");
    expect(stage.model.requests).toHaveLength(0);
  });

  it("/undo takes back the last message: files, conversation and prompt", async () => {
    writeFileSync(join(stages.home, "a.txt"), "before\n");
    const steps = ["One.", READ, [write("/a.txt", "after\n"), write("/new.txt", "x")], "Two.", "Three."];
    const stage = await stages.open(steps, { settings: { mode: "edits" } });
    stage.type(`first${ENTER}`);
    await stage.see(/One\./);
    stage.type(`second${ENTER}`);
    await stage.see(/Two\.[^]*what shall be done/);
    expect(readFileSync(join(stages.home, "a.txt"), "utf8")).toBe("after\n");
    stage.type(`/undo${ENTER}`);
    await stage.see(/Files put back: .*new\.txt/);
    expect(readFileSync(join(stages.home, "a.txt"), "utf8")).toBe("before\n");
    expect(() => readFileSync(join(stages.home, "new.txt"))).toThrow("ENOENT");
    stage.type(` but better${ENTER}`);
    await stage.see(/Three\./);
    expect(stage.asked(4)).toEqual(["human: first", "ai: One.", "human: second but better"]);
  });

  it("/undo keeps a file that the user changed after the agent", async () => {
    const stage = await stages.open([write("/a.txt", "agent"), "One."], { settings: { mode: "edits" } });
    stage.type(`first${ENTER}`);
    await stage.see(/One\.[^]*what shall be done/);
    writeFileSync(join(stages.home, "a.txt"), "mine");
    stage.type(`/undo${ENTER}`);
    await stage.see(/Not undone, because another process changed them too: \/a\.txt/);
    expect(readFileSync(join(stages.home, "a.txt"), "utf8")).toBe("mine");
  });

  it("the session reports once that copies cannot be kept, and still shows writes", async () => {
    mkdirSync(join(stages.home, "state"), { recursive: true });
    writeFileSync(join(stages.home, "state/copies"), "a file");
    const stage = await stages.open([[write("/a.txt", "a"), write("/b.txt", "b")], "Written."], {
      settings: { mode: "edits" },
    });
    stage.type(`go${ENTER}`);
    await stage.see(/Written\./);
    // Side by side, so in any order.
    for (const name of ["a", "b"]) expect(stage.all()).toContain(`✓ write ${name}.txt`);
    expect(stage.all().match(/No copies are kept for an undo/g)).toHaveLength(1);
  });

  it("/fork goes back to any message in a copy, and leaves the thread as it is", async () => {
    const saver = await sqliteSaver(":memory:");
    const stage = await stages.open(["One.", "Two.", "Other."], { saver });
    stage.type(`first${ENTER}`);
    await stage.see(/One\./);
    stage.type(`second${ENTER}`);
    await stage.see(/Two\.[^]*what shall be done/);
    const before = stage.session.thread?.id;
    stage.type(`/fork${ENTER}`);
    await stage.see(/1\. second[^]*2\. first/);
    stage.type("1");
    await stage.see(/in the prompt again/);
    stage.type(` way${ENTER}`);
    await stage.see(/Other\./);
    const note = expect.stringContaining("forked the conversation here") as string;
    expect(stage.asked(2)).toEqual(["human: first", "ai: One.", note, "human: second way"]);
    expect(stage.session.thread?.id).not.toBe(before);
    expect(await saver.listThreads()).toHaveLength(2);
  });

  it("/fork returns to the oldest of many messages by arrow, or by number and Enter", async () => {
    const stage = await stages.open(Array.from({ length: 11 }, (_, at) => `Answer ${at}.`));
    for (let at = 0; at < 11; at += 1) {
      stage.type(`message ${at}${ENTER}`);
      await stage.see(new RegExp(`Answer ${at}\\.[^]*what shall be done`));
    }
    stage.type(`/fork${ENTER}`);
    await stage.see(/❯ 1\. message 10[^]*9\. message 2\n {2}2 more with/);
    stage.type(UP);
    await stage.see(/3\. message 8[^]*❯ 11\. message 0/);
    stage.type("10");
    await stage.see(/> 10$/m);
    stage.type(ENTER);
    await stage.see(/^> message 1$/m);
    expect(stage.all()).toContain("your message is in the prompt again");
  });

  it("/plan shows the plan and edits it while the agent works", async () => {
    const second = held("Finished.");
    const steps = [
      callTool("write_todos", { todos: ["Dig", "Plant"] }),
      second.step,
      "Finished.",
      "Finished.",
    ];
    writeFileSync(join(stages.home, "editor.sh"), '#!/bin/sh\nsed -i "s/Plant/Plant roses/" "$1"\n', {
      mode: 0o755,
    });
    const stage = await stages.open(steps, { settings: { preset: "classic" } });
    stage.type(`go${ENTER}`);
    await second.begun;
    await stage.see(/\[ \] 2 Plant/);
    stage.type(`/plan edit${ENTER}`);
    second.go();
    await stage.see(/Plant roses/);
    await stage.see(IDLE);
    stage.type(`/plan${ENTER}`);
    await stage.see(/\[ \] 2 Plant roses/);
    expect(stage.all()).not.toContain("it has moved on");
    expect(stage.all().replaceAll(/\s+/g, " ")).toContain(
      'Saved: 2 has content "Plant roses". The agent hears of it at its next call, in this run or with your next message.',
    );
  });

  it("/export writes the conversation, /cost shows usage, Ctrl-O shows the last call", async () => {
    const stage = await stages.open([LOOK, "Here it is."]);
    stage.type(`go${ENTER}`);
    await stage.see(/Here it is\./);
    stage.type(CTRL_O);
    await stage.see(/result\n/);
    stage.type(`/export out.md${ENTER}`);
    await stage.see(/Written to/);
    const text = readFileSync(join(stages.home, "out.md"), "utf8");
    expect(text).toContain("## You\n\ngo");
    expect(text).toContain("### ✓ ls /");
    expect(text).toContain("## Agent\n\nHere it is.");
    stage.type(`/cost${ENTER}`);
    await stage.see(/tokens read/);
  });

  it("thoughts take one line above their answer, and Ctrl-O shows all of them", async () => {
    const thoughts = `${"The sea is wide. ".repeat(20)}So it is blue.`;
    const answer = new AIMessage({
      content: [
        { type: "reasoning", reasoning: thoughts },
        { type: "text", text: "It is blue." },
      ],
    });
    const stage = await stages.open([answer]);
    stage.type(`go${ENTER}`);
    await stage.see(/^thought: The sea is wide\.[^\n]*…\n[^]*It is blue\./m);
    expect(stage.all()).not.toContain("So it is blue");
    stage.type(CTRL_O);
    await stage.see(/So it is blue\./);
  });

  it("/compact has the conversation summarized with the next message", async () => {
    const steps: Step[] = ["First.", "Second.", "Third.", "The summary.", "Fourth."];
    const stage = await stages.open(steps);
    for (const word of ["one", "two", "three"]) {
      stage.type(`${word}${ENTER}`);
      await stage.until(() => stage.model.requests.length === ["one", "two", "three"].indexOf(word) + 1);
      await stage.see(IDLE);
    }
    stage.type(`/compact${ENTER}`);
    await stage.see(/Most of the 6 messages are summarized/);
    stage.type(`four${ENTER}`);
    await stage.see(/Fourth\./);
    await stage.see(/Summarized 3 earlier messages/);
    expect(stage.asked(4)[0]).toContain("The summary.");
    expect(stage.asked(4)[0]).toContain("<said>\none\n</said>");
    expect(stage.asked(4).length).toBeLessThan(7);
  });
});

describe("a thread in a session", () => {
  actionContract(async (turn) => {
    const stage = await stages.open([stepOf(turn)], { settings: { mode: "edits", plan: false }, loop: true });
    const atRest = () => stage.until(() => !stage.session.isBusy, "the end of the turn");
    const command = async (text: string, shown: RegExp): Promise<void> => {
      stage.type(`${text}${ENTER}`);
      await stage.see(shown);
    };
    return {
      dir: stages.home,
      run: async (task) => {
        stage.type(`${CLEAR}${task}${ENTER}`);
        await stage.until(() => stage.session.isBusy, "the turn");
        await stage.until(() => !stage.session.isBusy || /Allow it/.test(stage.lines().join("\n")));
        if (stage.session.isBusy) stage.type("n");
        await atRest();
      },
      say: async (words) => {
        await command(words, /queued: /);
        // A sub-agent is told at once.
        await command("", words.startsWith("@") ? /^> @/m : /at its next call/);
      },
      stop: async () => {
        stage.type(ESC);
        await atRest();
      },
      undo: () => command("/undo", /Taken back/),
      compact: () => command("/compact", /are summarized/),
      askMore: () => command("/mode ask", /Mode ask/),
    };
  });
});

describe("the screen of a session", () => {
  const plan = callTool("write_todos", { todos: Array.from({ length: 200 }, (_, at) => `Item ${at + 1}`) });

  it.each([
    [40, 10],
    [80, 24],
    [200, 60],
  ])(
    "has one prompt and no leftovers at %ix%i, with 200 items, wide text and a resize",
    async (columns, rows) => {
      const second = held("漢字 are **wide**, and 👩‍💻 too. ".repeat(20));
      const stage = await stages.open([plan, second.step, "Done so.", "Done so."], {
        columns,
        rows,
        settings: { preset: "classic" },
      });
      stage.type(`go 漢字${ENTER}`);
      await second.begun;
      await stage.see(/Item 1\b/);
      for (const [width, height] of [
        [columns - 15, rows],
        [columns, rows + 5],
      ] as const) {
        await stage.resize(width, height);
        await stage.see(/^> type ahead/m);
        expect(stage.lines().filter((row) => row.startsWith("> type"))).toHaveLength(1);
        expect(stage.lines().length).toBeLessThanOrEqual(height);
      }
      second.go();
      await stage.see(IDLE);
      expect(stage.all()).toContain("are wide, and");
      expect(stage.cursor).toMatchObject({ row: expect.stringMatching(/^> what/), column: 2 });
      expect(stage.all().match(/Item 200/g)).toHaveLength(1);
    },
  );

  it("keeps every word of a long answer, once and in order, while the user types", async () => {
    const words = Array.from({ length: 3000 }, (_, at) => `word${at}`);
    const lines = words.map((word, at) => (at % 12 === 11 ? `${word}\n\n` : `${word} `));
    const stage = await stages.open([lines.join(""), "Two."]);
    stage.type(`go${ENTER}`);
    stage.type("typed meanwhile");
    await stage.see(/word2999/);
    await stage.see(/> typed meanwhile/);
    expect(stage.all().match(/word\d+/g)).toEqual(words);
  });
});
