import { expect, it } from "vitest";
import { NO_TOKENS } from "../../../middleware/prices/index.ts";
import type { RunEvent } from "../../../threads/events/index.ts";
import { EMPTY_VIEW } from "../../../threads/view/index.ts";
import { plainPaint } from "../output/index.ts";
import { plainOutput } from "../run/plain.ts";
import { AnswerView } from "./answer-view.ts";

const head = { version: 1, at: 0, thread: "t", owner: "main" } as const;
const end = (text: string, isCut?: true): RunEvent => {
  const event = { ...head, type: "model-end", text, usage: NO_TOKENS } as const;
  return isCut ? { ...event, isCut } : event;
};
const start: RunEvent = { ...head, type: "model-start" };
const text = (piece: string): RunEvent => ({ ...head, type: "text", text: piece });

it("an answer that continues a cut-off answer follows it without a line break", () => {
  const streamed = [start, text("The fir"), end("The fir", true), start, text("st."), end("st.")];
  const whole = [start, end("The fir", true), start, end("st.")];
  for (const events of [streamed, whole]) {
    const view = new AnswerView(plainPaint);
    expect(events.flatMap((event) => view.take(event, EMPTY_VIEW, 80))).toEqual(["The first.", ""]);
    let printed = "";
    const screen = { write: (part: string) => Boolean((printed += part)) };
    const output = plainOutput(screen);
    for (const event of events) output.show(event, EMPTY_VIEW);
    expect(printed).toBe("The first.\n");
  }
});

it("an answer that was cut off is shown if no other answer follows", () => {
  const counts = { total: 0, pending: 0, in_progress: 0, completed: 0, blocked: 0, cancelled: 0 };
  const last = { ...head, type: "run-end", outcome: "done", counts, elapsedMs: 0, usage: NO_TOKENS } as const;
  let printed = "";
  const output = plainOutput({ write: (part: string) => Boolean((printed += part)) });
  for (const event of [start, end("The fir", true), last as never]) output.show(event, EMPTY_VIEW);
  expect(printed).toMatch(/^The fir\nDone/);
});
