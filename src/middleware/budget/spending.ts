import { costOf, type Prices, type UsedTokens } from "../prices/index.ts";
import type { Limits } from "./options.ts";

/** A resource that a budget can limit. */
export type Resource = keyof Limits;
export const RESOURCES = ["modelCalls", "tokens", "cost", "ms"] as const satisfies readonly Resource[];

/** An amount of each resource. */
export type Amounts = Readonly<Record<Resource, number>>;

/** Counts what is spent. */
export class Spending {
  readonly #prices: Prices | undefined;
  #modelCalls = 0;
  #tokens = 0;
  #cost = 0;
  /** Milliseconds of earlier invocations; the times when this one began and was last active. */
  #before = 0;
  #since: number | undefined;
  #at = 0;

  constructor(prices: Prices | undefined) {
    this.#prices = prices;
  }

  /** Begins a new invocation: the time since the last activity does not count. */
  begin(): void {
    this.#before += this.#at - (this.#since ?? this.#at);
    this.#since = undefined;
  }

  addCall(): void {
    this.#touch();
    this.#modelCalls += 1;
  }

  addTokens(used: UsedTokens, own = this.#prices): void {
    this.#touch();
    this.#tokens += used.inputTokens + used.outputTokens;
    if (this.#prices && own) this.#cost += costOf(used, own);
  }

  now(): Amounts {
    this.#touch();
    const ms = this.#before + this.#at - this.#since!;
    return { modelCalls: this.#modelCalls, tokens: this.#tokens, cost: this.#cost, ms };
  }

  #touch(): void {
    this.#at = Date.now();
    this.#since ??= this.#at;
  }
}

/** An amount as text: `20,000 tokens`, `$2.50`, `1.5 minutes`. */
export function amountText(resource: Resource, amount: number): string {
  switch (resource) {
    case "cost":
      return `$${amount.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 6 })}`;
    case "ms":
      return amount < MINUTE ? plural(amount / 1000, "second") : plural(amount / MINUTE, "minute");
    case "tokens":
      return plural(amount, "token");
    case "modelCalls":
      return plural(amount, "model call");
  }
}

const MINUTE = 60_000;

function plural(amount: number, unit: string): string {
  const number = amount.toLocaleString("en", { maximumFractionDigits: 3 });
  return `${number} ${unit}${amount === 1 ? "" : "s"}`;
}
