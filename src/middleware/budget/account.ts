import { CONFIG } from "../../marks.ts";
import type { Figures } from "../../plan/index.ts";
import { figuresSince, NO_FIGURES } from "../../plan/todo/index.ts";
import { costOf, type Prices, type UsedTokens } from "../prices/index.ts";
import { filled } from "../text/index.ts";
import type { RunContext } from "../thread-data/index.ts";
import { BUDGET_WARNING } from "./budget.prompt.ts";
import { DEFAULT_BUDGET, type BudgetOptions, type Limits } from "./options.ts";
import { amountText, RESOURCES, Spending, type Amounts, type Resource } from "./spending.ts";

/** The limits of an account, and what happens at them. */
interface AccountTerms {
  limits: BudgetOptions;
  /** Sub-agents keep their state and wait until the run is resumed. Default: they return what they have. */
  isResumable?: boolean;
  /** Replaces the message about the limit of model calls. */
  text?: string;
  /** Whose limits they are, for messages. Default: "one run". */
  whose?: string;
}

/** The limits and the spending of the run, or of an item. */
interface Part {
  whose: string;
  limits: Limits;
  spent: Amounts;
}

/** The cost of the main plan's items, from its ledger. */
export interface ItemCosts {
  /** Figures by item id; those that belong to no item have a key of their own. */
  costs: Readonly<Record<string, Figures>>;
  inProgress: readonly string[];
  /** Items that sub-agents work on in the background. */
  inBackground: readonly string[];
}

/** The spending of one run, or of a sub-agent in it, and its limits. */
export class Account {
  readonly #terms: AccountTerms;
  /** The account of the agent above, for a sub-agent's: spending counts in both. */
  readonly #above: Account | undefined;
  readonly #spending: Spending;
  /** The item of the agent above that all of this spending belongs to. */
  readonly #item: string | undefined;
  /** The items in progress, each with the milliseconds of the run at which it was first seen in progress. */
  #items: ReadonlyMap<string, number> = new Map();
  /** The cost of items in this run by the ledger, and the spending of their sub-agents that is not in it yet. */
  readonly #costs = new Map<string, Amounts>();
  readonly #running = new Map<string, Amounts>();
  /** The ledger's last figures, and the run's spending at that time. */
  #last: { costs: ItemCosts["costs"]; spent: Amounts } | undefined;
  readonly #warned = new Set<string>();

  constructor(terms: AccountTerms, above?: Account, item?: string) {
    this.#terms = terms;
    this.#above = above;
    this.#item = item;
    this.#spending = new Spending(terms.limits.prices);
  }

  /** The account for a sub-agent that works on an item of the main plan. */
  forItem(item: string): Account {
    return this.#item !== undefined || !this.isPerItem ? this : new Account({ limits: {} }, this, item);
  }

  /** Whether there are limits per item, so that `noteItems` is needed. */
  get isPerItem(): boolean {
    return this.#terms.limits.perItem !== undefined;
  }

  /** Restarts the clock after waiting for the user. */
  begin(): void {
    this.#spending.begin();
  }

  /** Updates the items in progress and their costs. The cost of items before the run does not count. */
  noteItems({ costs, inProgress, inBackground }: ItemCosts): void {
    const spent = this.#spending.now();
    const before = this.#last ?? { costs, spent };
    const changes = Object.entries(costs).map(([id, figures]) => {
      const { modelCalls, inputTokens, outputTokens } = figuresSince(before.costs[id] ?? NO_FIGURES, figures);
      return { id, modelCalls, tokens: inputTokens + outputTokens };
    });
    const tokens = changes.reduce((total, change) => total + change.tokens, 0);
    const cost = spent.cost - before.spent.cost;
    for (const { id, ...change } of changes) {
      const share = tokens > 0 ? (cost * change.tokens) / tokens : 0;
      add(this.#costs, id, { ...change, cost: share });
      if (!inBackground.includes(id)) this.#running.delete(id);
    }
    this.#last = { costs, spent };
    this.#items = new Map(inProgress.map((id) => [id, this.#items.get(id) ?? spent.ms]));
  }

  /**
   * Counts a model call before it is made, so that parallel agents cannot both take the last one. Returns the reason if
   * it must not be made.
   */
  take(): UsedUp | undefined {
    const refusal = this.#refusal();
    if (refusal) return refusal;
    for (const account of this.#all()) {
      account.#spending.addCall();
      account.#forItemAbove({ modelCalls: 1 });
    }
    return undefined;
  }

  /** Whether no more model calls may be made. */
  get isUsedUp(): boolean {
    return this.#refusal() !== undefined;
  }

  /** Adds used tokens. `own`: the prices, if not those of the budget. */
  addTokens(used: UsedTokens, own?: Prices): void {
    for (const account of this.#all()) {
      account.#spending.addTokens(used, own);
      const { prices } = account.#above ? account.#above.#terms.limits : {};
      const tokens = used.inputTokens + used.outputTokens;
      account.#forItemAbove({ tokens, cost: prices ? costOf(used, own ?? prices) : 0 });
    }
  }

  #forItemAbove(amounts: Partial<Amounts>): void {
    if (this.#item !== undefined) add(this.#above!.#running, this.#item, amounts);
  }

  /** Warnings about limits that are nearly reached. An agent gets each once. */
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
        return filled(BUDGET_WARNING, { share, whose, most: amountText(resource, most) });
      }),
    );
  }

  #refusal(only?: string): UsedUp | undefined {
    const { text, isResumable = false } = this.#terms;
    for (const { whose, limits, spent } of this.#parts(only)) {
      const resource = RESOURCES.find((one) => spent[one] >= (limits[one] ?? Infinity));
      if (!resource) continue;
      const most = `Stopped after ${amountText(resource, limits[resource]!)}, the most for ${whose}.`;
      return { text: (resource === "modelCalls" && text) || most, isResumable, resource };
    }
    return this.#above && this.#above.#refusal(this.#item);
  }

  /** `only`: the id of one item. Default: all items in progress. */
  #parts(only?: string): Part[] {
    const { perItem, ...limits } = this.#terms.limits;
    const spent = this.#spending.now();
    const ids = only === undefined ? [...this.#items.keys()] : [only];
    const items = ids.map((id) => {
      const [cost, running] = [this.#costs.get(id) ?? NOTHING, this.#running.get(id) ?? NOTHING];
      const ms = spent.ms - (this.#items.get(id) ?? spent.ms);
      return { whose: `one item (${id})`, limits: perItem ?? {}, spent: { ...sum(cost, running), ms } };
    });
    return [{ whose: this.#terms.whose ?? "one run", limits, spent }, ...items];
  }

  #all(): Account[] {
    return this.#above ? [this, ...this.#above.#all()] : [this];
  }
}

/** The share of a limit at which agents are warned. */
const WARN_AT = 0.8;

/** The limit that was reached, and a message about it. */
export interface UsedUp extends Required<Pick<AccountTerms, "text" | "isResumable">> {
  resource: Resource;
}

const NOTHING: Amounts = { modelCalls: 0, tokens: 0, cost: 0, ms: 0 };

function sum(a: Amounts, b: Amounts): Amounts {
  return Object.fromEntries(RESOURCES.map((resource) => [resource, a[resource] + b[resource]])) as Amounts;
}

function add(amounts: Map<string, Amounts>, id: string, more: Partial<Amounts>): void {
  amounts.set(id, sum(amounts.get(id) ?? NOTHING, { ...NOTHING, ...more }));
}

/** The budget of an agent and its sub-agents. */
export class Budget {
  readonly #limits: BudgetOptions | false;
  readonly #accounts = new WeakMap<object, Account>();
  readonly #own = new WeakSet<Account>();

  /** `false`: no limits of its own, only the account of the caller. */
  constructor(limits: BudgetOptions | false = {}) {
    this.#limits = limits && { ...DEFAULT_BUDGET, ...limits };
  }

  /** The account of a run, shared by its agent and middleware. */
  accountOf({ configurable, writer }: RunContext): Account | undefined {
    const value = configurable?.[CONFIG.budget];
    const above = value instanceof Account ? value : undefined;
    if (this.#limits === false || typeof writer !== "function") return above;
    if (above && this.#own.has(above)) return above;
    // LangGraph creates one writer per run, and runs within the run share it.
    const account = this.#accounts.get(writer) ?? new Account({ limits: this.#limits }, above);
    this.#accounts.set(writer, account);
    this.#own.add(account);
    return account;
  }

  /** The account of a sub-agent that may work on an item and may have limits of its own. */
  accountFor(context: RunContext, { item, limits }: { item?: string; limits?: Limits }) {
    const account = this.accountOf(context);
    const forItem = item === undefined ? account : account?.forItem(item);
    const own = limits ? new Account({ limits, whose: "this sub-agent" }, forItem) : forItem;
    if (own) this.#own.add(own);
    return own;
  }
}
