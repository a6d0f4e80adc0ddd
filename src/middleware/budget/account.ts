import type { RunContext } from "../thread-data/thread-id.ts";
import { BUDGET_WARNING } from "./budget.prompt.ts";
import { DEFAULT_BUDGET, type BudgetOptions, type Limits } from "./options.ts";
import type { UsedTokens } from "./prices.ts";
import { amountText, RESOURCES, Spending, type Amounts, type Resource } from "./spending.ts";

/** The configurable under which a sub-agent's run finds what it spends from. */
export const BUDGET_KEY = "holdfast_budget";

/** What becomes of a run whose budget is used up. */
export interface AccountTerms {
  limits: BudgetOptions;
  /** Sub-agents wait, with all they have done, until the run is resumed. Default: they return what they have. */
  isResumable?: boolean;
  /** Said of the model calls, in the place of how many there were. */
  text?: string;
}

/** A part of the budget: of the run, or of an item. */
interface Part {
  whose: string;
  limits: Limits;
  spent: Amounts;
}

/** What one run has spent of its budget. */
export class Account {
  readonly #terms: AccountTerms;
  /** Of the agent whose sub-agent spends this. */
  readonly #above: Account | undefined;
  readonly #spending: Spending;
  /** What was spent when each item in progress was first seen so. */
  #items: ReadonlyMap<string, Amounts> = new Map();
  readonly #warned = new Set<string>();

  constructor(terms: AccountTerms, above?: Account) {
    this.#terms = terms;
    this.#above = above;
    this.#spending = new Spending(terms.limits.prices);
  }

  /** Whether it has to know what is in progress. */
  get isPerItem(): boolean {
    return this.#terms.limits.perItem !== undefined;
  }

  /** The work goes on after a person was waited for. */
  begin(): void {
    this.#spending.begin();
  }

  /** What the main agent works on now. */
  noteItems(ids: readonly string[]): void {
    const now = this.#spending.now();
    this.#items = new Map(ids.map((id) => [id, this.#items.get(id) ?? now]));
  }

  /** Counts a model call before it is made, so that agents side by side cannot share one. Returns why it must not be. */
  take(): UsedUp | undefined {
    const refusal = this.#refusal();
    if (!refusal) for (const account of this.#all()) account.#spending.addCall();
    return refusal;
  }

  addTokens(used: UsedTokens): void {
    for (const account of this.#all()) account.#spending.addTokens(used);
  }

  /** What an agent has to be told before a limit is reached: of each limit once. */
  warnings(owner: string): string[] {
    return this.#all().flatMap((account) => account.#warnings(owner));
  }

  #warnings(owner: string): string[] {
    return this.#parts().flatMap(({ whose, limits, spent }) =>
      RESOURCES.flatMap((resource) => {
        const most = limits[resource];
        const key = `${owner} ${whose} ${resource}`;
        if (most === undefined || spent[resource] < most * WARN_AT || this.#warned.has(key)) return [];
        this.#warned.add(key);
        const share = `${Math.floor((spent[resource] / most) * 100)}%`;
        const values: Record<string, string> = { share, whose, most: amountText(resource, most) };
        return BUDGET_WARNING.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name]!);
      }),
    );
  }

  #refusal(): UsedUp | undefined {
    const { text, isResumable = false } = this.#terms;
    for (const { whose, limits, spent } of this.#parts()) {
      const resource = RESOURCES.find((one) => spent[one] >= (limits[one] ?? Infinity));
      if (!resource) continue;
      const most = `Stopped after ${amountText(resource, limits[resource]!)}, the most for ${whose}.`;
      return { text: (resource === "modelCalls" && text) || most, isResumable, resource };
    }
    return this.#above && this.#above.#refusal();
  }

  #parts(): Part[] {
    const { perItem, ...limits } = this.#terms.limits;
    const spent = this.#spending.now();
    const items = [...this.#items].map(([id, before]) => ({
      whose: `one item (${id})`,
      limits: perItem ?? {},
      spent: since(before, spent),
    }));
    return [{ whose: "one run", limits, spent }, ...items];
  }

  #all(): Account[] {
    return this.#above ? [this, ...this.#above.#all()] : [this];
  }
}

/** The share of a limit from which on it is told. */
const WARN_AT = 0.8;

/** Why no more may be spent. */
export interface UsedUp extends Required<Pick<AccountTerms, "text" | "isResumable">> {
  resource: Resource;
}

function since(before: Amounts, now: Amounts): Amounts {
  const { modelCalls, tokens, cost, ms } = before;
  return {
    modelCalls: now.modelCalls - modelCalls,
    tokens: now.tokens - tokens,
    cost: now.cost - cost,
    ms: now.ms - ms,
  };
}

/** The budget of an agent and the sub-agents that are made with it. */
export class Budget {
  readonly #limits: BudgetOptions | false;
  readonly #accounts = new WeakMap<object, Account>();
  readonly #own = new WeakSet<Account>();

  /** `false`: spends only from whoever started the run. */
  constructor(limits: BudgetOptions | false = {}) {
    this.#limits = limits && { ...DEFAULT_BUDGET, ...limits };
  }

  /** What a run spends from: the same for everything that works for it. */
  accountOf({ configurable, writer }: RunContext): Account | undefined {
    const given = configurable?.[BUDGET_KEY];
    const above = given instanceof Account ? given : undefined;
    if (this.#limits === false || typeof writer !== "function") return above;
    if (above && this.#own.has(above)) return above;
    // LangGraph makes a writer for each run, and the runs within that run have it too.
    const account = this.#accounts.get(writer) ?? new Account({ limits: this.#limits }, above);
    this.#accounts.set(writer, account);
    this.#own.add(account);
    return account;
  }
}
