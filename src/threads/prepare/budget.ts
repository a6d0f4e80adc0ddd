import { HarnessError } from "../../errors.ts";
import type { BudgetOptions, Limits } from "../../middleware/budget/index.ts";
import type { Prices } from "../../middleware/prices/index.ts";
import type { RunSettings } from "./settings.ts";

/** Resources by the words that name them on a command line. */
const RESOURCES: Readonly<Record<string, { resource: keyof Limits; unit: number; isWhole: boolean }>> = {
  tokens: { resource: "tokens", unit: 1, isWhole: true },
  cost: { resource: "cost", unit: 1, isWhole: false },
  minutes: { resource: "ms", unit: 60_000, isWhole: false },
};

const ITEM = "item-";

/** Reads `tokens=200000,cost=5,minutes=30,item-tokens=50000`, or `none`. Throws `invalid-options`. */
export function readBudget(text: string): BudgetOptions {
  if (text.trim() === "none") return {};
  const run: Limits = {};
  const item: Limits = {};
  for (const part of text.split(",")) {
    const [key = "", value = "", ...rest] = part.split("=").map((word) => word.trim());
    const isItem = key.startsWith(ITEM);
    const known = RESOURCES[isItem ? key.slice(ITEM.length) : key];
    const amount = Number(value);
    const isAmount = value !== "" && amount > 0 && Number.isFinite(amount) && rest.length === 0;
    if (!known || !isAmount || (known.isWhole && !Number.isInteger(amount))) fail(text, `${part.trim()}: `);
    (isItem ? item : run)[known.resource] = Math.max(amount * known.unit, known.resource === "ms" ? 1 : 0);
  }
  return { ...run, ...(Object.keys(item).length > 0 && { perItem: item }) };
}

/** A budget that knows what tokens of the model cost. Throws `invalid-options` where it has to and does not. */
export function pricedBudget(budget: BudgetOptions, prices: Prices | undefined): BudgetOptions {
  const priced = { ...budget, ...(prices && { prices }) };
  if (!priced.prices && (budget.cost ?? budget.perItem?.cost) !== undefined) {
    throw new HarnessError(
      "invalid-options",
      "--budget has a cost: set HOLDFAST_PRICES, such as 3,15,0.3, or prices in your settings, to know what tokens of this model cost.",
    );
  }
  return priced;
}

/** Settings whose budget knows what tokens of the model cost. Throws `invalid-options` as `pricedBudget` does. */
export function withPricedBudget<Settings extends Pick<RunSettings, "budget">>(
  settings: Settings,
  prices: Prices | undefined,
): Settings {
  const { budget } = settings;
  return budget ? { ...settings, budget: pricedBudget(budget as BudgetOptions, prices) } : settings;
}

function fail(text: string, part: string): never {
  const valid = "amounts above 0 of tokens, cost (dollars) and minutes, such as tokens=200000,item-minutes=5";
  throw new HarnessError("invalid-options", `--budget is ${JSON.stringify(text)}; ${part}write ${valid}.`);
}
