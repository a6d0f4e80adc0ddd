import { HarnessError } from "../../../errors.ts";
import type { Todo } from "../../../plan/index.ts";
import { readRules } from "../../../plan/read/index.ts";
import { PLAN_SAYS, planWish, savedWords } from "../../../threads/edit/index.ts";
import type { HostThread } from "../../../threads/host/index.ts";
import { PlanConflict, type PlanEdit, planItems, planText, sentRules } from "../../../threads/plan/index.ts";
import type { RuledPlan } from "../updates/plan-entries.ts";

export interface SessionPlanOptions {
  thread: HostThread;
  /** Shows the editor a plan that no run tells it of. */
  tell: (plan: RuledPlan) => void;
  /** Has each new plan approved from now on. */
  approve: () => void;
}

/** The plan of a session, as its person changes it: also while a prompt runs, here or in another process. */
export class SessionPlan {
  readonly #options: SessionPlanOptions;
  /** The plan as it was last said: a list that is typed was made of it. */
  #said: readonly Todo[] | undefined;

  constructor(options: SessionPlanOptions) {
    this.#options = options;
  }

  read(): Promise<RuledPlan> {
    return this.#options.thread.plan();
  }

  /** Throws what `Thread.writePlan` throws. */
  edit(edit: PlanEdit, signal: AbortSignal): Promise<Todo[]> {
    return this.#told(this.#options.thread.editPlan(edit, { signal }), edit.rules);
  }

  /** Does what stands behind `/plan`, without a call of the model, and returns what there is to say. */
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
      const known = HarnessError.from(error);
      if (!known || known.code === "edit-withdrawn") throw error;
      return known instanceof PlanConflict ? this.#say(known.todos, known.message) : known.message;
    }
  }

  async #told(edit: Promise<Todo[]>, sent?: readonly string[]): Promise<Todo[]> {
    const todos = await edit;
    this.#options.tell({ todos, rules: readRules(sent) ?? (await this.read()).rules });
    return todos;
  }

  async #show(note?: string): Promise<string> {
    const plan = await this.read();
    this.#options.tell(plan);
    return this.#say(plan.todos, note);
  }

  async #edit(markdown: string, signal: AbortSignal): Promise<string> {
    const base = this.#said ?? (await this.read()).todos;
    // Whoever has not seen the ids cannot have kept them, and would take everything off the plan.
    const isUnseen = this.#said === undefined && base.length > 0;
    if (markdown === "" || isUnseen) return this.#show(PLAN_SAYS.unchanged);
    const todos = await this.edit(
      { todos: planItems(markdown, base), base, rules: sentRules(markdown) },
      signal,
    );
    return this.#say(todos, savedWords(base, todos));
  }

  async #clear(signal: AbortSignal): Promise<string> {
    if ((await this.read()).todos.length === 0) return PLAN_SAYS.none;
    const todos = await this.#told(this.#options.thread.clearPlan({ signal }));
    return this.#say(todos, `${PLAN_SAYS.cleared} ${PLAN_SAYS.heard}`);
  }

  /** In a block of code, which editors show and copy as it is. */
  async #say(todos: readonly Todo[], note?: string): Promise<string> {
    this.#said = todos;
    const { rules } = await this.read();
    const list = todos.length > 0 ? `\`\`\`markdown\n${planText(todos, rules)}\`\`\`` : PLAN_SAYS.none;
    return [note, list, HOW].filter(Boolean).join("\n\n");
  }
}

const HOW =
  "To change it, send `/plan edit` and the whole list as it should be, such as `- [ ] Write the tests`. Keep the #ids of items that stay.";
