import { NO_TOKENS, sumTokens } from "../../src/middleware/prices/index.ts";
import { failureOf, type FailureKind } from "../../src/models/failure/failure.ts";
import type { ChosenModel } from "../../src/models/index.ts";
import type { Usage } from "../../src/threads/events/events.ts";
import { costOf } from "../../src/threads/view/prices.ts";
import { estimate, priceText, thousands } from "./estimate.ts";
import type { LiveOptions } from "./options.ts";
import type { Results, RunKey, RunRecord } from "./results.ts";
import { runTask } from "./run.ts";
import { LIVE_SYSTEMS } from "./systems.ts";
import { assignmentOf, LIVE_TASKS } from "./tasks/index.ts";

/** Why a session ended before its time. */
export type Stop = { why: "budget" | "signal" | "unmetered" } | { why: "provider"; error: unknown };

/** Failures that the next run would meet as well. */
const LASTING: readonly FailureKind[] = [
  "refused",
  "unknown-host",
  "certificate",
  "unauthorized",
  "forbidden",
  "not-found",
  "no-quota",
];
/** After so many runs in a row that the provider made fail, it is not bothered any more. */
const MOST_FAILURES = 3;

/** The runs of one start of the command. */
export class Session {
  spent: Usage = NO_TOKENS;
  readonly #chosen: ChosenModel;
  readonly #results: Results;
  readonly #options: LiveOptions;
  readonly #keys: readonly RunKey[];
  readonly #abort = new AbortController();
  #next = 0;
  #done = 0;
  #failures = 0;
  #stop: Stop | undefined;

  constructor(parts: {
    chosen: ChosenModel;
    results: Results;
    options: LiveOptions;
    keys: readonly RunKey[];
  }) {
    this.#chosen = parts.chosen;
    this.#results = parts.results;
    this.#options = parts.options;
    this.#keys = parts.keys;
  }

  get isUsed(): boolean {
    return this.spent.inputTokens + this.spent.outputTokens > 0;
  }

  /** Makes the runs. Returns why it ended early, if it did. */
  async run(): Promise<Stop | undefined> {
    const onSignal = (): void => this.#end({ why: "signal" });
    process.once("SIGINT", onSignal).once("SIGTERM", onSignal);
    const work = async (): Promise<void> => {
      while (!this.#stop && this.#next < this.#keys.length) await this.#runOne(this.#keys[this.#next++]!);
    };
    await Promise.all(Array.from({ length: this.#options.parallel }, work));
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
    return this.#stop;
  }

  async #runOne(key: RunKey): Promise<void> {
    const { seed, sandbox } = this.#options;
    const task = LIVE_TASKS.find(({ id }) => id === key.task)!;
    const { figures, failure } = await runTask({
      system: LIVE_SYSTEMS.find(({ name }) => name === key.system)!,
      assignment: assignmentOf(task, `${seed}/${key.round}`),
      model: this.#chosen.model,
      sandbox: { isolation: sandbox ? "always" : "never" },
      signal: this.#abort.signal,
      onUsage: (usage) => this.#spend(usage),
    });
    this.#failures = failure === undefined ? 0 : this.#failures + 1;
    const isLasting = failure !== undefined && LASTING.includes(failureOf(failure).kind);
    if (isLasting || this.#failures >= MOST_FAILURES) this.#end({ why: "provider", error: failure });
    // What spent nothing need not be remembered, unless it counts.
    if ((figures.end === "interrupted" || isLasting) && figures.inputTokens === 0) return;
    const record: RunRecord = { ...key, kind: task.kind, at: new Date().toISOString(), ...figures };
    this.#results.add(record);
    this.#tell(record);
  }

  #spend(usage: Usage | undefined): void {
    if (!usage) {
      if (this.#options.budget !== undefined) this.#end({ why: "unmetered" });
      return;
    }
    this.spent = sumTokens(this.spent, usage);
    const { budget, prices } = this.#options;
    if (budget !== undefined && prices && costOf(this.spent, prices) >= budget) this.#end({ why: "budget" });
  }

  #end(stop: Stop): void {
    this.#stop ??= stop;
    this.#abort.abort();
  }

  /** One line per run, with what is spent and what is still to come. */
  #tell(record: RunRecord): void {
    const { task, system, end, solved, modelCalls, inputTokens, cachedTokens, outputTokens, error } = record;
    this.#done += 1;
    const verdict = solved ? "finished" : end === "answered" ? "not finished" : end;
    const tokens = `${thousands(inputTokens)} in (${thousands(cachedTokens)} cached), ${thousands(outputTokens)} out`;
    const { prices } = this.#options;
    const left = priceText(estimate(this.#keys.slice(this.#next), this.#results.counted), prices);
    const why = error === undefined ? "" : `; ${error}`;
    console.error(
      `bench: ${this.#done}/${this.#keys.length}  ${system}  ${task}: ${verdict}, ${modelCalls} calls, ${tokens}${why}; so far ${priceText(this.spent, prices)}, about ${left} to go`,
    );
  }
}
