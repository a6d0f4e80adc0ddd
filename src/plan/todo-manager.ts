import { HarnessError } from "../errors.ts";
import { applyWrite } from "./apply/index.ts";
import { PRESETS, dueReminders } from "./presets/index.ts";
import { renderChecklist } from "./render/index.ts";
import { CHECKLIST_POLICY, type Policy, EMPTY_PLAN, type Plan, type Todo } from "./todo/index.ts";

/**
 * The TodoWrite lesson as an object, for loops without LangChain: validates the list, renders it, and reminds the model
 * after three rounds without an update.
 *
 * @example
 * ```ts
 * import { TodoManager } from "holdfast/plan";
 *
 * const manager = new TodoManager();
 * console.log(manager.update([{ id: "1", text: "Build", status: "in_progress" }]));
 * const reminder = manager.endRound(true);
 * ```
 */
export class TodoManager {
  readonly #policy: Policy;
  #plan: Plan = EMPTY_PLAN;
  #rounds = 0;

  constructor(policy: Partial<Policy> = {}) {
    this.#policy = { ...CHECKLIST_POLICY, ...policy };
  }

  get todos(): readonly Todo[] {
    return this.#plan.todos;
  }

  /** Replaces the list and returns it rendered. A bad list throws a `HarnessError` and changes nothing. */
  update(items: unknown): string {
    const result = applyWrite(this.#plan, items, this.#policy);
    if (!result.ok)
      throw new HarnessError("invalid-plan", result.issues.map((issue) => issue.message).join("\n"));
    this.#plan = result.plan;
    return this.render();
  }

  render(): string {
    return renderChecklist(this.#plan.todos);
  }

  /** Call after each round of tool calls. Returns the reminder for the model if one is due. */
  endRound(usedTodo: boolean): string | undefined {
    this.#rounds = usedTodo ? 0 : this.#rounds + 1;
    const situation = { todos: this.todos, visible: true, edits: [], nags: 0, exits: 0, answered: false };
    const [reminder] = dueReminders({ ...situation, rounds: this.#rounds }, PRESETS.checklist.reminders);
    return reminder?.text;
  }
}
