import type { RunEvent } from "../../../threads/events/index.ts";
import { MAIN, type RunView } from "../../../threads/view/index.ts";
import { clock, fit, oneLine, shown, type Harmless, type Paint } from "../output/index.ts";
import { callLines } from "./call-lines.ts";
import { echoOf, linesOf, planLines, thoughtLine } from "./lines.ts";
import { MarkdownStream } from "./markdown-stream.ts";

/** Shorter thinking is not reported. */
const MIN_THOUGHT_MS = 3000;

/** Renders the events of a run as the text above the plan. */
export class AnswerView {
  readonly #paint: Paint;
  readonly #stream = new MarkdownStream();
  /** Text that is not in the stream yet; `advance` adds it when a frame is drawn. */
  #text = "";
  #hasText = false;
  /** Whether the last answer was cut off, so that the next one continues its text. */
  #isCut = false;
  #askedAt: number | undefined;
  #thoughts = "";
  readonly #calls = new Map<string, number>();
  /** Whether the plan has changed in this run. */
  #isPlanned = false;
  /** Whether the last returned row was empty. */
  #isSpaced = false;

  constructor(paint: Paint) {
    this.#paint = paint;
  }

  /** The final rows for an event. */
  take(event: RunEvent, view: RunView, columns: number): Harmless[] {
    const isMain = !("owner" in event) || event.owner === MAIN;
    switch (event.type) {
      case "run-start":
        this.#isPlanned = false;
        this.#isCut = false;
        return [];
      case "model-start":
        if (isMain) this.#askedAt = event.at;
        this.#hasText = this.#hasText && !isMain;
        if (isMain && this.#isCut) return [];
        return isMain ? this.#rows(linesOf(event, view, this.#paint), columns) : [];
      case "thought":
        if (isMain) this.#thoughts += event.text;
        return [];
      case "text": {
        if (!isMain) return [];
        const thought = this.#thought(event.at, columns);
        const before = event.anew
          ? [...this.flush(columns), this.#paint("dim", shown`(that was thinking)`)]
          : [];
        this.#text += event.text;
        this.#hasText = true;
        return [...thought, ...before];
      }
      case "model-end": {
        if (!isMain) return [];
        const thought = this.#thought(event.at, columns);
        // Without streaming the whole text comes with this event.
        if (!this.#hasText) this.#text += event.text;
        this.#isCut = event.isCut === true;
        return this.#isCut ? thought : [...thought, ...this.flush(columns)];
      }
      case "message":
        return [...this.flush(columns), ...this.#rows(echoOf(event.text, this.#paint), columns)];
      case "tool-start":
        this.#calls.set(event.call, event.at);
        return [];
      case "tool-end": {
        const tookMs = event.at - (this.#calls.get(event.call) ?? event.at);
        this.#calls.delete(event.call);
        return this.#rows(callLines(event, this.#paint, { tookMs, dir: view.dir }), columns);
      }
      case "plan-change":
        this.#isPlanned ||= isMain;
        return [];
      case "subagent-end":
        return event.ok ? [] : this.#rows(linesOf(event, view, this.#paint), columns);
      case "model-retry":
      case "summary":
      case "summary-failure":
        return isMain ? this.#rows(linesOf(event, view, this.#paint), columns) : [];
      case "notice":
        return this.#rows(linesOf(event, view, this.#paint), columns);
      case "run-end": {
        const plan = this.#isPlanned ? planLines(view.agents.get(MAIN)?.todos ?? [], MAIN, this.#paint) : [];
        const rest = this.flush(columns);
        // An answer ends with an empty row already.
        const space = plan.length > 0 && !this.#isSpaced ? [shown``] : [];
        const shownPlan = this.#rows([...space, ...plan], columns);
        this.#isSpaced = false;
        // The last lines are not cut: they may contain an error, or a command to copy.
        return [...rest, ...shownPlan, ...linesOf(event, view, this.#paint)];
      }
      default:
        return [];
    }
  }

  /** Renders the text that has arrived. Returns the rows that became final. */
  advance(columns: number): Harmless[] {
    const text = this.#text;
    this.#text = "";
    return text === "" ? [] : this.#stream.write(text, this.#options(columns));
  }

  /** The rows of the answer that may still change. */
  tail(columns: number): Harmless[] {
    return this.#stream.tail(this.#options(columns));
  }

  /** The remaining rows of the answer, and an empty row. */
  flush(columns: number): Harmless[] {
    const rows = [...this.advance(columns), ...this.#stream.end(this.#options(columns))];
    if (rows.length === 0) return [];
    this.#isSpaced = true;
    return [...rows, shown``];
  }

  #options(columns: number) {
    return { columns: columns - 1, paint: this.#paint };
  }

  /** Some lines, after the remaining rows of the answer. */
  #rows(lines: readonly Harmless[], columns: number): Harmless[] {
    const rest = this.flush(columns);
    if (lines.length > 0) this.#isSpaced = false;
    return [...rest, ...lines.map((line) => fit(line, columns))];
  }

  #thought(at: number, columns: number): Harmless[] {
    const took = at - (this.#askedAt ?? at);
    const thoughts = this.#thoughts.trim();
    this.#askedAt = undefined;
    this.#thoughts = "";
    const verb = took < MIN_THOUGHT_MS ? "thought" : `thought for ${clock(took)}`;
    if (thoughts) return [fit(thoughtLine(thoughts, this.#paint, verb), columns)];
    return took < MIN_THOUGHT_MS ? [] : [this.#paint("dim", oneLine(verb))];
  }
}
