import { EventEmitter } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import type { RunEvent } from "../../../../threads/events/events.ts";
import { EMPTY_VIEW, reduce } from "../../../../threads/view/view.ts";
import { plainPaint } from "../../output/paint.ts";
import { plainOutput } from "../../run/plain.ts";
import { History } from "../prompt/history.ts";
import type { Display } from "./display.ts";
import { LiveDisplay, type LiveDisplayOptions } from "./live-display.ts";
import { PlainDisplay } from "./plain-display.ts";

const head = (at: number) => ({ version: 1, at, thread: "t" }) as const;
const START: RunEvent = { type: "run-start", ...head(0), model: "m", resumed: false };
const QUESTION: RunEvent = {
  type: "question",
  ...head(10),
  id: "q",
  kind: "clarification",
  text: "Which bed?",
  options: [],
};
const COUNTS = { total: 0, pending: 0, in_progress: 0, completed: 0, blocked: 0, cancelled: 0 };
const end = (at: number, outcome: "done" | "failed" | "interrupted"): RunEvent => ({
  type: "run-end",
  ...head(at),
  outcome,
  exitCode: 0,
  counts: COUNTS,
  usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0 },
});

function terminalOf(): { terminal: LiveDisplayOptions["terminal"]; bells: () => number } {
  let written = "";
  const write = (text: string): void => void (written += text);
  const stdout = Object.assign(new EventEmitter(), { columns: 80, rows: 24, isTTY: true, write });
  const terminal = { stdin: new PassThrough(), stdout } as unknown as LiveDisplayOptions["terminal"];
  return { terminal, bells: () => written.split("\u0007").length - 1 };
}

function liveDisplay(terminal: LiveDisplayOptions["terminal"]): LiveDisplay {
  const history = new History(join(tmpdir(), "no-such-holdfast-history"));
  return new LiveDisplay({ terminal, paint: plainPaint, history });
}

function show(display: Pick<Display, "show">, events: readonly RunEvent[]): void {
  let view = EMPTY_VIEW;
  for (const event of events) display.show(event, (view = reduce(view, event)));
}

it.each([
  ["a question", [START, QUESTION], 1],
  ["questions that come together, once", [START, QUESTION, { ...QUESTION, id: "r" }], 1],
  ["the end of a run of ten seconds", [START, end(10_000, "done")], 1],
  ["the failure of a long run", [START, end(60_000, "failed")], 1],
  ["nothing at the end of a short run", [START, end(9999, "done")], 0],
  ["nothing at the end of a run that the person stopped", [START, end(60_000, "interrupted")], 0],
])("the bell of a live display rings for %s", async (_, events, count) => {
  const { terminal, bells } = terminalOf();
  const display = liveDisplay(terminal);
  display.watch();
  show(display, events);
  await display.close();
  expect(bells()).toBe(count);
});

it("no bell rings while another program has the terminal, or in plain lines", async () => {
  const { terminal, bells } = terminalOf();
  const display = liveDisplay(terminal);
  display.watch();
  const all = [START, QUESTION, end(10_000, "done")];
  await display.lend(async () => show(display, all));
  await display.close();
  show(new PlainDisplay(terminal as never), all);
  show(plainOutput(terminal.stdout), all);
  expect(bells()).toBe(0);
});
