import { HarnessError } from "../../../errors.ts";
import type { Todo } from "../../../plan/index.ts";
import { readRules } from "../../../plan/read/index.ts";
import { PLAN_SAYS, planWish, savedWords } from "../../../threads/edit/index.ts";
import type { HostThread } from "../../../threads/host/index.ts";
import { PlanConflict, type PlanEdit, planItems, planText, sentRules } from "../../../threads/plan/index.ts";
import type { RuledPlan } from "../updates/plan-entries.ts";

export interface SessionPlanOptions {
  thread: HostThread;
  /** Sends the editor a plan, unless an active run sends it. */
  tell: (plan: RuledPlan) => void;
  /** Requires approval of new plans from now on. */
  approve: () => void;
}

/** Reads and edits the plan of a session, also while a prompt runs, here or in another process. */
export class SessionPlan {
  readonly #options: SessionPlanOptions;
  /** The plan as last shown: the base of a list that the user sends. */
  #shown: readonly Todo[] | undefined;

  constructor(options: SessionPlanOptions) {
    this.#options = options;
  }

  read(): Promise<RuledPlan> {
    return this.#options.thread.plan();
  }

  /** Throws what `Thread.writePlan` throws. */
  edit(edit: PlanEdit, signal: AbortSignal): Promise<Todo[]> {
    return this.#announce(this.#options.thread.editPlan(edit, { signal }), edit.rules);
  }

  /** Runs `/plan` with its arguments, without a model call, and returns the reply. */
  async command(args: string, signal: AbortSignal): Promise<string> {
    try {
      const wish = planWish(args);
      switch (wish?.to) {
        case "show":
          return await this.#show();
        case "edit":
          return await this.#edit(wish.rest, signal);
        case "clear":
          return await this.#clear(signal);
        case "approve":
          this.#options.approve();
          return PLAN_SAYS.approve;
        case undefined:
          return PLAN_SAYS.unknown(args);
      }
    } catch (error) {
      const harnessError = HarnessError.from(error);
      if (!harnessError || harnessError.code === "edit-withdrawn") throw error;
      const { message } = harnessError;
      return harnessError instanceof PlanConflict ? this.#reply(harnessError.todos, message) : message;
    }
  }

  /** Sends the edited plan to the editor. */
  async #announce(edit: Promise<Todo[]>, newRules?: readonly string[]): Promise<Todo[]> {
    const todos = await edit;
    this.#options.tell({ todos, rules: readRules(newRules) ?? (await this.read()).rules });
    return todos;
  }

  async #show(note?: string): Promise<string> {
    const plan = await this.read();
    this.#options.tell(plan);
    return this.#reply(plan.todos, note);
  }

  async #edit(markdown: string, signal: AbortSignal): Promise<string> {
    const base = this.#shown ?? (await this.read()).todos;
    // A user who has not seen the ids cannot have kept them, and would remove every item.
    const isUnseen = this.#shown === undefined && base.length > 0;
    if (markdown === "" || isUnseen) return this.#show(PLAN_SAYS.unchanged);
    const todos = await this.edit(
      { todos: planItems(markdown, base), base, rules: sentRules(markdown) },
      signal,
    );
    return this.#reply(todos, savedWords(base, todos));
  }

  async #clear(signal: AbortSignal): Promise<string> {
    if ((await this.read()).todos.length === 0) return PLAN_SAYS.none;
    const todos = await this.#announce(this.#options.thread.clearPlan({ signal }));
    return this.#reply(todos, `${PLAN_SAYS.cleared} ${PLAN_SAYS.heard}`);
  }

  /** The plan in a code block, which editors show and copy unchanged, with a note and how to edit it. */
  async #reply(todos: readonly Todo[], note?: string): Promise<string> {
    this.#shown = todos;
    const { rules } = await this.read();
    const list = todos.length > 0 ? `\`\`\`markdown\n${planText(todos, rules)}\`\`\`` : PLAN_SAYS.none;
    return [note, list, HOW].filter(Boolean).join("\n\n");
  }
}

const HOW =
  "To change it, send `/plan edit` and the whole list as it should be, such as `- [ ] Write the tests`. Keep the #ids of items that stay.";
