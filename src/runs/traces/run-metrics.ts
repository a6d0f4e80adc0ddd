import type { RunEvent } from "../events.ts";
import { MAIN } from "../view.ts";
import type { Instrument, Meter } from "./meter.ts";
import { modelNames } from "./model-names.ts";
import type { Attributes } from "./span.ts";

/** The first two are those of the GenAI conventions, with the bounds that they advise. */
const TOKENS: Instrument = {
  name: "gen_ai.client.token.usage",
  description: "Tokens of a model call.",
  unit: "{token}",
  bounds: Array.from({ length: 14 }, (_, power) => 4 ** power),
};
const SECONDS = Array.from({ length: 14 }, (_, power) => 2 ** power / 100);
const MODEL_TIME: Instrument = {
  name: "gen_ai.client.operation.duration",
  description: "Time of a model call.",
  unit: "s",
  bounds: SECONDS,
};
const TOOL_TIME: Instrument = {
  name: "holdfast.tool.duration",
  description: "Time of a tool call.",
  unit: "s",
  bounds: SECONDS,
};
const TURNS: Instrument = { name: "holdfast.turns", description: "Model answers.", unit: "{turn}" };
const REMINDERS: Instrument = {
  name: "holdfast.reminders",
  description: "Reminders that the harness added to requests.",
  unit: "{reminder}",
};
const REFUSALS: Instrument = {
  name: "holdfast.refused_completions",
  description: "Items that a verifier did not accept as completed.",
  unit: "{item}",
};

const FAILED = { "error.type": "_OTHER" };

/** A run as figures, made of its events. */
export class RunMetrics {
  readonly #meter: Meter;
  /** When what is under way began. */
  readonly #asked = new Map<string, number>();
  readonly #called = new Map<string, number>();
  #model: Attributes = {};

  constructor(meter: Meter) {
    this.#meter = meter;
  }

  follow(event: RunEvent): void {
    const { at } = event;
    switch (event.type) {
      case "run-start":
        this.#model = { "gen_ai.operation.name": "chat", ...modelNames(event.model) };
        return;
      case "model-start":
        this.#endChat(event.owner, at, FAILED);
        this.#asked.set(event.owner, at);
        for (const name of event.reminders ?? []) {
          this.#meter.record(REMINDERS, 1, { "holdfast.reminder.name": name });
        }
        return;
      case "model-end": {
        const { owner, usage } = event;
        this.#endChat(owner, at);
        this.#meter.record(TURNS, 1, { ...this.#model, "gen_ai.agent.name": agentOf(owner) });
        this.#count("input", usage.inputTokens);
        this.#count("output", usage.outputTokens);
        return;
      }
      case "tool-start":
        this.#called.set(`${event.owner} ${event.call}`, at);
        return;
      case "tool-end": {
        const key = `${event.owner} ${event.call}`;
        const start = this.#called.get(key);
        if (start === undefined) return;
        this.#called.delete(key);
        this.#time(TOOL_TIME, at - start, {
          "gen_ai.operation.name": "execute_tool",
          "gen_ai.tool.name": event.name,
          ...(!event.ok && FAILED),
        });
        return;
      }
      case "completion-refusal":
        return this.#meter.record(REFUSALS, 1, { "gen_ai.agent.name": agentOf(event.owner) });
      case "run-end":
        // One that was stopped has not failed.
        if (event.outcome === "failed") this.#endChat(MAIN, at, FAILED);
        return;
      default:
    }
  }

  #endChat(owner: string, at: number, more: Attributes = {}): void {
    const start = this.#asked.get(owner);
    if (start === undefined) return;
    this.#asked.delete(owner);
    this.#time(MODEL_TIME, at - start, { ...this.#model, ...more });
  }

  #time(instrument: Instrument, ms: number, attributes: Attributes): void {
    this.#meter.record(instrument, Math.max(0, ms) / 1000, attributes);
  }

  /** A provider that does not tell what was used has not used nothing. */
  #count(type: "input" | "output", tokens: number): void {
    if (tokens > 0) this.#meter.record(TOKENS, tokens, { ...this.#model, "gen_ai.token.type": type });
  }
}

/** `main/scout:call_7` is a scout. */
function agentOf(owner: string): string {
  if (owner === MAIN) return "holdfast";
  return owner.slice(owner.lastIndexOf("/") + 1).split(":", 1)[0]!;
}
