import type { RunEvent } from "../events/index.ts";
import { MAIN, ownerName } from "../view/index.ts";
import type { Instrument, Meter } from "./meter.ts";
import { modelNames, type Attributes } from "./span.ts";

/** This and `MODEL_TIME` are metrics of the GenAI conventions, with the recommended bounds. */
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

/** Records metrics of a run from its events. */
export class RunMetrics {
  readonly #meter: Meter;
  /** The start times of running model and tool calls. */
  readonly #asked = new Map<string, number>();
  readonly #called = new Map<string, number>();
  /** Names of sub-agents by owner. */
  readonly #names = new Map<string, string>();
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
      case "subagent-start":
        this.#names.set(event.owner, event.name);
        return;
      case "model-start":
        this.#endChat(event.owner, at, false);
        this.#asked.set(event.owner, at);
        for (const name of event.reminders ?? []) {
          this.#meter.record(REMINDERS, { "holdfast.reminder.name": name }, 1);
        }
        return;
      case "model-end": {
        const { owner, usage } = event;
        this.#endChat(owner, at);
        this.#meter.record(TURNS, { ...this.#model, "gen_ai.agent.name": this.#agentOf(owner) }, 1);
        this.#count("input", usage.inputTokens);
        this.#count("output", usage.outputTokens);
        return;
      }
      case "tool-start":
        this.#called.set(`${event.owner} ${event.call}`, at);
        return;
      case "tool-end": {
        const { owner, call, name, ok } = event;
        const start = this.#called.get(`${owner} ${call}`);
        if (start === undefined) return;
        this.#called.delete(`${owner} ${call}`);
        const attributes = {
          "gen_ai.operation.name": "execute_tool",
          "gen_ai.tool.name": name,
          ...(!ok && FAILED),
        };
        return this.#meter.record(TOOL_TIME, attributes, seconds(at - start));
      }
      case "completion-refusal":
        return this.#meter.record(REFUSALS, { "gen_ai.agent.name": this.#agentOf(event.owner) }, 1);
      case "run-end":
        // A stopped call has not failed.
        if (event.outcome === "failed") this.#endChat(MAIN, at, false);
        return;
      default:
    }
  }

  /** The name to group by. Not the title of a sub-agent, which is different for every task. */
  #agentOf(owner: string): string {
    return owner === MAIN ? "holdfast" : (this.#names.get(owner) ?? ownerName(owner));
  }

  #endChat(owner: string, at: number, ok = true): void {
    const start = this.#asked.get(owner);
    if (start === undefined) return;
    this.#asked.delete(owner);
    this.#meter.record(MODEL_TIME, { ...this.#model, ...(!ok && FAILED) }, seconds(at - start));
  }

  /** Records tokens, except 0, which means that the provider does not report them. */
  #count(type: "input" | "output", tokens: number): void {
    if (tokens === 0) return;
    this.#meter.record(TOKENS, { ...this.#model, "gen_ai.token.type": type }, tokens);
  }
}

function seconds(ms: number): number {
  return Math.max(0, ms) / 1000;
}
