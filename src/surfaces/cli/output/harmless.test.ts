import { EventEmitter } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { HOSTILE, left } from "../../../../test/helpers/measure/hostile-text.ts";
import { countTodos } from "../../../plan/index.ts";
import type { RunEvent, RunEventBody } from "../../../threads/events/events.ts";
import { EMPTY_VIEW, reduce } from "../../../threads/view/view.ts";
import { jsonOutput, liveOutput, plainOutput, quietOutput, type Output } from "../run/plain.ts";
import { LiveDisplay, type LiveDisplayOptions } from "../session/display/live-display.ts";
import { History } from "../session/prompt/history.ts";
import { exact, harmless, oneLine, shown, shownJson, type Harmless } from "./harmless.ts";
import type { Screen } from "./live-region.ts";
import { colourPaint } from "./paint.ts";

class Paper extends EventEmitter implements Screen {
  text = "";
  isTTY = true;
  columns = 60;
  rows = 30;
  write = (text: Harmless): void => {
    // The bell that calls the person is our own, and is written by itself.
    if (text !== "\u0007") this.text += text;
  };
}

const owner = `main/${HOSTILE}:${HOSTILE}\n${HOSTILE}`;
const usage = { inputTokens: 1, outputTokens: 1, cachedTokens: 0 };
const todos = (["pending", "in_progress", "completed", "blocked", "cancelled"] as const).map(
  (status, at) => ({ id: `${at}${HOSTILE}`, content: HOSTILE, status, note: HOSTILE }),
);
const tool = { call: HOSTILE, name: HOSTILE, about: HOSTILE, args: { [HOSTILE]: HOSTILE } };
const [call, text] = [HOSTILE, HOSTILE];

/** Every kind of event, hostile in every text. */
const EVENTS: readonly RunEventBody[] = [
  { type: "run-start", model: HOSTILE, task: HOSTILE, resumed: true, dir: HOSTILE },
  { type: "plan-snapshot", owner: "main", todos },
  ...["main", owner].flatMap((who): RunEventBody[] => [
    { type: "subagent-start", owner: who, name: HOSTILE, description: HOSTILE, todoId: todos[1]!.id },
    {
      type: "plan-change",
      owner: who,
      by: "model",
      changes: [{ type: "todo-remove", id: HOSTILE }],
      counts: countTodos(todos),
      todos,
    },
    { type: "model-start", owner: who },
    { type: "model-retry", owner: who, seconds: 1, reason: HOSTILE },
    { type: "text", owner: who, text },
    ...Array.from(HOSTILE, (piece): RunEventBody => ({ type: "text", owner: who, text: piece })),
    { type: "model-end", owner: who, text: `${HOSTILE}\n${HOSTILE}`, usage },
    { type: "tool-start", owner: who, ...tool },
    { type: "tool-end", owner: who, ...tool, ok: true, result: HOSTILE, output: HOSTILE },
    { type: "tool-start", owner: who, ...tool, name: "execute" },
    {
      type: "tool-end",
      owner: who,
      ...tool,
      ok: false,
      result: HOSTILE,
      output: `${HOSTILE}\n[${HOSTILE}]`,
      exitCode: 1,
    },
    { type: "tool-end", owner: who, ...tool, call, ok: false, result: HOSTILE },
    { type: "subagent-end", owner: who, name: HOSTILE, ok: false, error: HOSTILE },
  ]),
  ...(["plan-approval", "clarification", "permission", "other"] as const).map((kind): RunEventBody => ({
    type: "question",
    id: HOSTILE,
    kind,
    text: `${HOSTILE}\n${HOSTILE}`,
    options: [HOSTILE],
    owner,
    todos,
    error: HOSTILE,
  })),
  { type: "answer", id: HOSTILE, answer: HOSTILE },
  { type: "notice", text: HOSTILE },
  {
    type: "run-end",
    outcome: "failed",
    reason: "turn-limit",
    exitCode: 1,
    counts: countTodos(todos),
    usage,
    answer: HOSTILE,
    error: HOSTILE,
    resume: HOSTILE,
  },
];

function livePlan(paper: Paper): Output {
  const display = new LiveDisplay({
    terminal: { stdin: new PassThrough(), stdout: paper } as unknown as LiveDisplayOptions["terminal"],
    paint: colourPaint,
    history: new History(join(tmpdir(), "no-such-holdfast-history")),
    commands: () => [],
    files: () => [],
  });
  const output = liveOutput(display, { paint: colourPaint, asks: false });
  return {
    ...output,
    show: (event, view) => {
      output.show(event, view);
      // Drawn at once.
      display.status({ isBusy: true, queue: [], footer: shown`` });
    },
  };
}

/** Shows a whole run, each event in a frame of its own, and gives back what was written. */
async function play(
  makeOutput: (paper: Paper, errors: Paper) => Output,
): Promise<{ paper: string; errors: string }> {
  const [paper, errors] = [new Paper(), new Paper()];
  const output = makeOutput(paper, errors);
  let view = EMPTY_VIEW;
  for (const body of EVENTS) {
    const event = { version: 1, at: Date.now(), thread: HOSTILE, ...body } as RunEvent;
    view = reduce(view, event);
    output.show(event, view);
    await setImmediate();
  }
  await output.close?.();
  return { paper: paper.text, errors: errors.text };
}

describe("hostile text", () => {
  it("is recognized as hostile by this test", () => {
    expect(left(HOSTILE)).toHaveLength(9);
  });

  it.each<[string, (paper: Paper, errors: Paper) => Output]>([
    ["plain lines", (paper) => plainOutput(paper, { paint: colourPaint })],
    ["the live plan", livePlan],
    ["the answer alone", quietOutput],
    ["events", jsonOutput],
  ])("is harmless in %s, within any event", async (_, makeOutput) => {
    const { paper, errors } = await play(makeOutput);
    expect(paper).toContain("evil");
    expect(left(paper)).toEqual([]);
    expect(left(errors)).toEqual([]);
  });

  it("keeps our own colours", async () => {
    const { paper } = await play((screen) => plainOutput(screen, { paint: colourPaint }));
    expect(paper).toContain("\u001B[36m[>] ");
  });

  it("keeps its value in events for any reader", async () => {
    const { paper } = await play(jsonOutput);
    const events = paper
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
    expect(events.find((event) => "error" in event && "reason" in event)).toMatchObject(EVENTS.at(-1)!);
    expect(JSON.parse(shownJson({ [HOSTILE]: HOSTILE }))).toEqual({ [HOSTILE]: HOSTILE });
  });

  it("is exact where another program reads it, and harmless on a terminal", () => {
    expect(exact(HOSTILE, { isTTY: false })).toBe(HOSTILE);
    expect(left(exact(HOSTILE, { isTTY: true }))).toEqual([]);
  });
});

describe("text that is not hostile stays unchanged", () => {
  it.each([
    "plain words, and more",
    "naïve café, Straße, ελληνικά, русский",
    "漢字と仮名、한국어",
    "family 👩‍👩‍👧, flag 🏳️‍🌈, heart ❤️, key 1️⃣, hand 👋🏽",
    // Persian and Hindi are spelled with joiners.
    "می‌خواهم",
    "क्‍ष",
    "עברית العربية",
  ])("%s", (words) => {
    expect(harmless(words)).toBe(words);
    expect(oneLine(words)).toBe(words);
  });

  it("except for its tabs and, in one line, its line breaks", () => {
    expect(harmless("a\tb\nc")).toBe("a    b\nc");
    expect(oneLine("a\tb\r\n\nc ")).toBe("a b c");
  });
});
