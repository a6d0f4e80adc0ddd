import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { callTool } from "../../src/testing/index.ts";
import type { ModelTurn } from "./plan-edits.ts";

/** A surface where a person works with an agent on one thread, in mode `edits` and without a plan. */
export interface ActionSurface {
  /** The directory of the project. */
  dir: string;
  /** Gives the thread a task; resolves when it is at rest. Questions are refused. */
  run: (task: string) => Promise<unknown>;
  /** Gives a message to the agent at work. */
  say: (words: string) => Promise<unknown>;
  stop: () => Promise<unknown>;
  /** Takes back the last task. */
  undo: () => Promise<unknown>;
  /** Has the conversation summarized with the next task. */
  compact: () => Promise<unknown>;
  /** Has the person asked before each change from now on. */
  askMore: () => Promise<unknown>;
}

/** Opens a surface whose model answers by this turn. */
export type OpenSurface = (turn: ModelTurn) => Promise<ActionSurface> | ActionSurface;

const look = () => callTool("ls", { path: `/${crypto.randomUUID()}` });
const write = (content: string) => callTool("write_file", { file_path: "/a.txt", content });

/** A turn that plays answers in their order, and keeps what the model was sent. */
function player(...answers: Awaited<ReturnType<ModelTurn>>[]) {
  const calls: (readonly string[])[] = [];
  const turn: ModelTurn = async (texts) => {
    calls.push(texts);
    return answers.shift() ?? "ok";
  };
  return { turn, calls };
}

/** A turn that has a sub-agent dig, and answers when it has ended; the sub-agent's turns are the given ones. */
function team(dig: ModelTurn) {
  const [main, helper]: (readonly string[])[][] = [[], []];
  const task = callTool("task", { title: "Reef Borva", description: "Dig deep", subagent_type: "reader" });
  const turn: ModelTurn = async (texts) => {
    const isHelper = texts.includes("Dig deep");
    (isHelper ? helper! : main!).push(texts);
    if (isHelper) return dig(texts);
    return main!.length === 1 ? task : "Done.";
  };
  return { turn, main: main!, helper: helper! };
}

/** What a person can do with a thread, for every surface. */
export function actionContract(open: OpenSurface): void {
  it("a message to the working agent is read at its next call", async () => {
    let said: Promise<unknown> | undefined;
    const calls: (readonly string[])[] = [];
    const surface = await open(async (texts) => {
      calls.push(texts);
      said ??= surface.say("Be brief");
      return texts.some((text) => text.includes("Be brief")) ? "Done." : look();
    });
    await surface.run("Look around");
    await said;
    expect(calls.at(-1)!.at(-1)).toContain("Be brief");
    expect(calls.at(-1)!.some((text) => text.includes("Look around"))).toBe(true);
  });

  it("a message to a working sub-agent reaches no other agent", async () => {
    let said: Promise<unknown> | undefined;
    const { turn, main, helper } = team(async (texts) => {
      said ??= surface.say("@Reef Borva Be brief");
      return texts.some((text) => text.includes("Be brief")) ? "Dug." : look();
    });
    const surface = await open(turn);
    await surface.run("Ask for a hole");
    await said;
    expect(helper.at(-1)!.at(-1)).toContain("The user says to you: Be brief");
    expect(main.at(-1)!.at(-1)).toMatch(/^Dug\.$/m);
    expect(main.at(-1)!.join("\n")).not.toContain("Be brief");
  });

  it("a cancelled sub-agent reports its partial result, and its caller continues", async () => {
    let said: Promise<unknown> | undefined;
    const { turn, main } = team(async () => {
      said ??= surface.say("@reef borva /cancel");
      return look();
    });
    const surface = await open(turn);
    await surface.run("Ask for a hole");
    await said;
    expect(main.at(-1)!.at(-1)).toContain("[In part: the user cancelled it.]");
  });

  it("a stopped run ends, and the thread takes the next task", async () => {
    let stop: Promise<unknown> | undefined;
    let end = (): void => {};
    const ended = new Promise<void>((resolve) => (end = resolve));
    let last: readonly string[] = [];
    const surface = await open(async (texts) => {
      last = texts;
      const isFirst = stop === undefined;
      stop ??= surface.stop();
      if (isFirst) await ended;
      return "Here.";
    });
    await surface.run("Go");
    await stop;
    end();
    await surface.run("Where are you?");
    expect(last.at(-1)).toContain("Where are you?");
  });

  it("an undo takes back the last task, and its files", async () => {
    const { turn, calls } = player(write("one"), "Written.", write("two"), "Rewritten.");
    const surface = await open(turn);
    await surface.run("Write one");
    await surface.run("Write two");
    expect(readFileSync(join(surface.dir, "a.txt"), "utf8")).toBe("two");
    await surface.undo();
    expect(readFileSync(join(surface.dir, "a.txt"), "utf8")).toBe("one");
    await surface.run("Write three");
    const sent = calls.at(-1)!.join("\n");
    expect(sent).toContain("Write one");
    expect(sent).not.toContain("Write two");
  });

  it("a conversation is summarized with the next task on request", async () => {
    const { turn, calls } = player("One.", "Two.", "Three.", "Four.", "## Goal\nCount the beds.", "Five.");
    const surface = await open(turn);
    for (const task of ["Count", "Again", "And again", "Once more"]) await surface.run(task);
    await surface.compact();
    await surface.run("Last");
    expect(calls).toHaveLength(6);
    expect(calls.at(-1)!.join("\n")).toContain("Count the beds.");
  });

  it("a stricter mode holds from the next task on", async () => {
    const { turn, calls } = player(write("one"), "Written.", write("two"), "Not written.");
    const surface = await open(turn);
    await surface.run("Write one");
    await surface.askMore();
    await surface.run("Write two");
    expect(existsSync(join(surface.dir, "a.txt"))).toBe(true);
    expect(readFileSync(join(surface.dir, "a.txt"), "utf8")).toBe("one");
    expect(calls.at(-1)!.join("\n")).toContain("does not allow this write_file call");
  });
}
