import { HarnessError } from "../../errors.ts";
import type { BudgetOptions, Limits } from "../../middleware/budget/index.ts";
import type { Prices } from "../../middleware/prices/index.ts";
import type { RunSettings } from "./settings.ts";

/** Resources by their names on the command line. */
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
    const entry = RESOURCES[isItem ? key.slice(ITEM.length) : key];
    const amount = Number(value);
    const isAmount = value !== "" && amount > 0 && Number.isFinite(amount) && rest.length === 0;
    if (!entry || !isAmount || (entry.isWhole && !Number.isInteger(amount))) fail(text, `${part.trim()}: `);
    (isItem ? item : run)[entry.resource] = Math.max(amount * entry.unit, entry.resource === "ms" ? 1 : 0);
  }
  return { ...run, perItem: Object.keys(item).length > 0 ? item : undefined };
}

/** Settings with the prices of the model in their budget. Throws `invalid-options` for a cost limit without prices. */
export function withPricedBudget<Settings extends Pick<RunSettings, "budget">>(
  settings: Settings,
  prices: Prices | undefined,
): Settings {
  const budget = settings.budget;
  if (!budget) return settings;
  const priced = { ...budget, ...(prices && { prices }) };
  if (!priced.prices && (budget.cost ?? budget.perItem?.cost) !== undefined) {
    throw new HarnessError(
      "invalid-options",
      "--budget has a cost: set HOLDFAST_PRICES, such as 3,15,0.3, or prices in your settings, to know what tokens of this model cost.",
    );
  }
  return { ...settings, budget: priced };
}

function fail(text: string, part: string): never {
  const valid = "amounts above 0 of tokens, cost (dollars) and minutes, such as tokens=200000,item-minutes=5";
  throw new HarnessError("invalid-options", `--budget is ${JSON.stringify(text)}; ${part}write ${valid}.`);
}
