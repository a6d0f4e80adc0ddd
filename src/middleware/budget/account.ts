import type { RunContext } from "../thread-data/thread-id.ts";
import type { BudgetOptions } from "./options.ts";

/** The configurable under which a sub-agent's run finds what it spends from. */
export const BUDGET_KEY = "holdfast_budget";

/** What becomes of a run whose budget is used up. */
export interface AccountTerms {
  limits: BudgetOptions;
  /** Sub-agents wait, with all they have done, until the run is resumed. Default: they return what they have. */
  isResumable?: boolean;
  /** Said in the place of how much was spent. */
  text?: string;
}

/** What one run has spent of its budget. */
export class Account {
  readonly #terms: AccountTerms;
  /** Of the agent whose sub-agent spends this. */
  readonly #above: Account | undefined;
  #modelCalls = 0;
  #tokens = 0;

  constructor(terms: AccountTerms, above?: Account) {
    this.#terms = terms;
    this.#above = above;
  }

  /** Counts a model call before it is made, so that agents side by side cannot share one. Returns why it must not be. */
  take(): UsedUp | undefined {
    const refusal = this.#refusal();
    if (!refusal) for (const account of this.#all()) account.#modelCalls += 1;
    return refusal;
  }

  addTokens(tokens: number): void {
    for (const account of this.#all()) account.#tokens += tokens;
  }

  #refusal(): UsedUp | undefined {
    const { limits, text, isResumable = false } = this.#terms;
    const { modelCalls = Infinity, tokens = Infinity } = limits;
    if (this.#modelCalls >= modelCalls) return { text: text ?? spent(modelCalls, "model call"), isResumable };
    if (this.#tokens >= tokens) return { text: text ?? spent(tokens, "token"), isResumable };
    return this.#above && this.#above.#refusal();
  }

  #all(): Account[] {
    return this.#above ? [this, ...this.#above.#all()] : [this];
  }
}

/** Why no more may be spent. */
export interface UsedUp extends Required<Pick<AccountTerms, "text" | "isResumable">> {}

function spent(most: number, unit: string): string {
  return `Stopped after ${most.toLocaleString("en")} ${unit}${most === 1 ? "" : "s"}, the most for one run.`;
}

/** The budget of an agent and the sub-agents that are made with it. */
export class Budget {
  readonly #limits: BudgetOptions | false;
  readonly #accounts = new WeakMap<object, Account>();
  readonly #own = new WeakSet<Account>();

  /** `false`: spends only from whoever started the run. */
  constructor(limits: BudgetOptions | false) {
    this.#limits = limits;
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
