import { EventEmitter } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import xterm from "@xterm/headless";
import { afterEach, describe, expect, it } from "vitest";
import { countTodos, type Todo } from "../../../plan/index.ts";
import type { RunEvent, RunEventBody } from "../../../threads/events/events.ts";
import { EMPTY_VIEW, MAIN, reduce } from "../../../threads/view/view.ts";
import { liveOutput } from "../run/plain.ts";
import { LiveDisplay, type LiveDisplayOptions } from "../session/display/live-display.ts";
import { History } from "../session/prompt/history.ts";
import { plainPaint } from "./paint.ts";

/** Longer than from an event to its frame. */
const FRAME_MS = 50;

/** A live output on a terminal emulator. */
class Stage extends EventEmitter {
  readonly #terminal: xterm.Terminal;
  readonly output: ReturnType<typeof liveOutput>;
  #view = EMPTY_VIEW;
  #written = Promise.resolve();

  columns: number;
  rows: number;

  constructor(columns: number, rows: number) {
    super();
    [this.columns, this.rows] = [columns, rows];
    this.#terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true, convertEol: true });
    const display = new LiveDisplay({
      terminal: { stdin: new PassThrough(), stdout: this } as unknown as LiveDisplayOptions["terminal"],
      paint: plainPaint,
      history: new History(join(tmpdir(), "no-such-holdfast-history")),
      commands: () => [],
      files: () => [],
    });
    this.output = liveOutput(display, { paint: plainPaint, asks: true });
  }

  write(text: string): void {
    this.#written = this.#written.then(() => new Promise((resolve) => this.#terminal.write(text, resolve)));
  }

  async show(...bodies: RunEventBody[]): Promise<void> {
    for (const body of bodies) {
      const event = { version: 1, at: Date.now(), thread: "t", ...body } as RunEvent;
      this.#view = reduce(this.#view, event);
      this.output.show(event, this.#view);
    }
    await this.drawn();
  }

  async drawn(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, FRAME_MS));
    await this.#written;
  }

  async resize(columns: number, rows: number): Promise<void> {
    await this.resizeUnheard(columns, rows);
    this.hear();
    await this.drawn();
  }

  /** The terminal has another size, and the process does not know yet. */
  async resizeUnheard(columns: number, rows: number): Promise<void> {
    await this.#written;
    this.#terminal.resize(columns, rows);
  }

  hear(): void {
    [this.columns, this.rows] = [this.#terminal.cols, this.#terminal.rows];
    this.emit("resize");
  }

  /** All rows, also those that have scrolled away. */
  async lines(): Promise<string[]> {
    await this.#written;
    const { active } = this.#terminal.buffer;
    const rows = Array.from({ length: active.length }, (_, at) =>
      active.getLine(at)!.translateToString(true),
    );
    return rows.slice(0, rows.findLastIndex((row) => row !== "") + 1);
  }
}

let stage: Stage;
afterEach(() => stage.output.close!());

const start: RunEventBody = { type: "run-start", model: "m", resumed: false };
const text = (words: string, owner: string = MAIN): RunEventBody => ({ type: "text", owner, text: words });
const plan = (...todos: Todo[]): RunEventBody => ({
  type: "plan-change",
  owner: MAIN,
  by: "model",
  changes: [],
  counts: countTodos(todos),
  todos,
});
const end: RunEventBody = {
  type: "run-end",
  outcome: "done",
  exitCode: 0,
  counts: countTodos([]),
  usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0 },
};

describe("the live output", () => {
  it("lets text scroll above the plan", async () => {
    stage = new Stage(40, 12);
    await stage.show(
      start,
      plan({ id: "1", content: "Dig", status: "in_progress" }),
      text("First line\nsec"),
      text("ond"),
    );
    const lines = await stage.lines();
    expect(lines.slice(0, 4)).toEqual(["started t with m", "First line", "second", ""]);
    expect(lines[4]).toContain("[>] 1 Dig");
    expect(lines).toHaveLength(6);
  });

  it("leaves the text and the finished plan, once", async () => {
    stage = new Stage(40, 12);
    await stage.show(start, plan({ id: "1", content: "Dig", status: "in_progress" }), text("Hello."));
    await stage.show(plan({ id: "1", content: "Dig", status: "completed" }), end);
    const lines = await stage.lines();
    expect(lines.slice(0, -1)).toEqual(["started t with m", "Hello.", "", "[x] 1 Dig"]);
    expect(lines.at(-1)).toMatch(/^Done \(1\/1, 0:\d\d\)$/);
  });

  it("does not show what sub-agents say", async () => {
    stage = new Stage(40, 12);
    await stage.show(start, text("secret", "main/x:1"), end);
    expect((await stage.lines()).join("\n")).not.toContain("secret");
  });

  it("breaks long text at words and wide characters where they fit", async () => {
    stage = new Stage(12, 30);
    await stage.show(start, text("aaaa bbbb cccc 漢字漢字漢字漢字"), end);
    const lines = (await stage.lines()).map((line) => line.trim());
    expect(lines.slice(2, -2)).toEqual(["aaaa bbbb", "cccc 漢字漢", "字漢字漢字"]);
  });

  it.each([
    [20, 12],
    [14, 12],
    [200, 50],
  ])("leaves no part of an old frame when the terminal becomes %i by %i", async (columns, rows) => {
    stage = new Stage(60, 20);
    await stage.show(
      start,
      plan({ id: "1", content: "An item with a rather long name", status: "in_progress" }),
    );
    await stage.resize(columns, rows);
    await stage.resize(60, 20);
    await stage.show(plan({ id: "1", content: "An item with a rather long name", status: "completed" }), end);
    const lines = await stage.lines();
    expect(lines.filter((line) => line.includes("rather"))).toHaveLength(1);
    expect(lines.some((line) => line.includes("[>]"))).toBe(false);
  });

  it.each([
    [20, 12],
    [14, 12],
    [30, 6],
  ])("leaves no old part when it draws before the resize event for %i by %i", async (columns, rows) => {
    stage = new Stage(60, 20);
    const thinking: RunEventBody = { type: "model-start", owner: MAIN };
    await stage.show(
      start,
      plan({ id: "1", content: "An item with a rather long name", status: "in_progress" }),
    );
    await stage.show(thinking);
    await stage.resizeUnheard(columns, rows);
    await stage.show(thinking, thinking);
    stage.hear();
    await stage.show(thinking);
    const lines = await stage.lines();
    expect(lines[0]).toBe("started t with m".slice(0, columns));
    expect(lines.filter((line) => line.startsWith("[>]"))).toHaveLength(1);
    expect(lines.join("\n")).not.toContain("rather long name");
  });

  it("marks that an answer begins again", async () => {
    stage = new Stage(60, 20);
    await stage.show(start, { type: "model-start", owner: MAIN }, text("Half an"));
    await stage.show({ type: "model-retry", owner: MAIN, seconds: 1, reason: "the connection was cut" });
    await stage.show({ type: "model-start", owner: MAIN }, text("A whole answer."), end);
    expect((await stage.lines()).filter(Boolean).slice(1, 4)).toEqual([
      "Half an",
      "retrying in 1 s (the connection was cut)",
      "A whole answer.",
    ]);
  });

  it("marks the end of thinking that it showed as an answer", async () => {
    stage = new Stage(60, 20);
    await stage.show(start, { type: "model-start", owner: MAIN }, text("Hm. Well."));
    await stage.show({ type: "text", owner: MAIN, text: "Yes.", anew: true }, end);
    expect((await stage.lines()).filter(Boolean).slice(1, 4)).toEqual([
      "Hm. Well.",
      "(that was thinking)",
      "Yes.",
    ]);
  });

  it("leaves the terminal alone while a question is asked", async () => {
    stage = new Stage(40, 12);
    await stage.show(start, plan({ id: "1", content: "Dig", status: "in_progress" }));
    const seen = await stage.output.lend!(async () => {
      const before = await stage.lines();
      await stage.show(plan({ id: "1", content: "Dig", status: "completed" }));
      return [before, await stage.lines()];
    });
    expect(seen).toEqual([["started t with m"], ["started t with m"]]);
  });

  it.each([
    [0, 0],
    [1, 1],
  ])("draws on a terminal of %i columns and %i rows", async (columns, rows) => {
    stage = new Stage(80, 24);
    [stage.columns, stage.rows] = [columns, rows];
    await stage.show(start, plan({ id: "1", content: "Dig", status: "in_progress" }), text("words"), end);
    expect((await stage.lines()).join("")).toContain("wo");
  });
});
