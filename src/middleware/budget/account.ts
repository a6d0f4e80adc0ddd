import type { Figures } from "../../plan/index.ts";
import { figuresSince, NO_FIGURES } from "../../plan/todo/index.ts";
import { costOf, type Prices, type UsedTokens } from "../prices/index.ts";
import { filled } from "../text/index.ts";
import type { RunContext } from "../thread-data/index.ts";
import { BUDGET_WARNING } from "./budget.prompt.ts";
import { DEFAULT_BUDGET, type BudgetOptions, type Limits } from "./options.ts";
import { amountText, RESOURCES, Spending, type Amounts, type Resource } from "./spending.ts";

/** The configurable under which a sub-agent's run finds what it spends from. */
export const BUDGET_KEY = "holdfast_budget";

/** The end of a run whose budget is used up. */
export interface AccountTerms {
  limits: BudgetOptions;
  /** Sub-agents wait, with all they have done, until the run is resumed. Default: they return what they have. */
  isResumable?: boolean;
  /** Said of the model calls, in the place of how many there were. */
  text?: string;
  /** Whose limits they are. Default: one run's. */
  whose?: string;
}

/** A part of the budget: of the run, or of an item. */
interface Part {
  whose: string;
  limits: Limits;
  spent: Amounts;
}

/** The cost of the main plan's items, from its ledger. */
export interface ItemCosts {
  /** Costs by item; those of no item stand under another key. */
  costs: Readonly<Record<string, Figures>>;
  inProgress: readonly string[];
  /** Items that sub-agents work on in the background. */
  away: readonly string[];
}

/** One run's spending of its budget. */
export class Account {
  readonly #terms: AccountTerms;
  /** The account of the agent whose sub-agent spends this. */
  readonly #above: Account | undefined;
  readonly #spending: Spending;
  /** The item of the agent above that all of this is for. */
  readonly #item: string | undefined;
  /** The items in progress, and when each was first seen so, in milliseconds of the run. */
  #items: ReadonlyMap<string, number> = new Map();
  /** The cost of items in this run, and their sub-agents' spending since then. */
  readonly #costs = new Map<string, Amounts>();
  readonly #running = new Map<string, Amounts>();
  /** The ledger's last figures, and the total spending then. */
  #last: { costs: ItemCosts["costs"]; spent: Amounts } | undefined;
  readonly #warned = new Set<string>();

  constructor(terms: AccountTerms, above?: Account, item?: string) {
    this.#terms = terms;
    this.#above = above;
    this.#item = item;
    this.#spending = new Spending(terms.limits.prices);
  }

  /** An account of a sub-agent that works on an item of the main plan. */
  forItem(item: string): Account {
    return this.#item !== undefined || !this.isPerItem ? this : new Account({ limits: {} }, this, item);
  }

  /** Whether it has to know what is in progress. */
  get isPerItem(): boolean {
    return this.#terms.limits.perItem !== undefined;
  }

  /** The work goes on after a person was waited for. */
  begin(): void {
    this.#spending.begin();
  }

  /** Notes what the main agent works on now. What items had cost before the run is not of this budget. */
  noteItems({ costs, inProgress, away }: ItemCosts): void {
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
      if (!away.includes(id)) this.#running.delete(id);
    }
    this.#last = { costs, spent };
    this.#items = new Map(inProgress.map((id) => [id, this.#items.get(id) ?? spent.ms]));
  }

  /** Counts a model call before it is made, so that agents side by side cannot share one. Returns why it must not be. */
  take(): UsedUp | undefined {
    const refusal = this.#refusal();
    if (refusal) return refusal;
    for (const account of this.#all()) {
      account.#spending.addCall();
      account.#forItemAbove({ modelCalls: 1 });
    }
    return undefined;
  }

  /** No more model calls may be made. */
  get isUsedUp(): boolean {
    return this.#refusal() !== undefined;
  }

  /** `own`: the prices of another model than the agent's. */
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

  /** Warnings for an agent before a limit is reached: one for each limit. */
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

  /** `only`: the item that is asked about. Default: all in progress. */
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

/** The share of a limit from which on it is told. */
const WARN_AT = 0.8;

/** Why no more may be spent. */
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

/** The budget of an agent and the sub-agents that are made with it. */
export class Budget {
  readonly #limits: BudgetOptions | false;
  readonly #accounts = new WeakMap<object, Account>();
  readonly #own = new WeakSet<Account>();

  /** `false`: spends only from whoever started the run. */
  constructor(limits: BudgetOptions | false = {}) {
    this.#limits = limits && { ...DEFAULT_BUDGET, ...limits };
  }

  /** The account of a run, the same for everything that works for it. */
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

  /** The account of a sub-agent, for the item that it works on, and with limits of its own. */
  accountFor(
    context: RunContext,
    { item, limits }: { item?: string | undefined; limits?: Limits | undefined },
  ) {
    const account = this.accountOf(context);
    const forItem = item === undefined ? account : account?.forItem(item);
    const own = limits ? new Account({ limits, whose: "this sub-agent" }, forItem) : forItem;
    if (own) this.#own.add(own);
    return own;
  }
}
