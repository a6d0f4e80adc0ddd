import { call, type Answer, type Call, type Conversation, type Item } from "./conversation.ts";

/** A step of a plan: its text, and the positions of the steps that it depends on. */
export interface Step {
  content: string;
  after?: number[];
  /** Minutes. */
  estimate?: number;
}

/** Progress of the work. Steps are identified by their content. */
interface Progress {
  done: readonly string[];
  /** Steps that cannot be done, with the reason. */
  blocked?: ReadonlyMap<string, string>;
}

/** The note for a step that a verifier has not accepted. */
const NOTE = "a step of the task";

/** After this many refusals the plan is no longer updated. */
const MOST_REFUSALS = 4;
const STRANGE = "a program in a model's place cannot do it";

/** Whether there are the plan tools of the preset `lean`, the only ones that the programs use. */
export function canPlan(tools: readonly string[]): boolean {
  return tools.includes("write_todos") && tools.includes("update_todos");
}

/** The calls that cancel items of a plan. */
export function cancelling(items: readonly Item[]): Call[] {
  return items.length > 0 ? [call("update_todos", { cancel: idsOf(items) })] : [];
}

/** The plan of a task: maps the steps of a program to the items in the graph's state. */
export class Plan {
  readonly #steps: readonly Step[];
  readonly #conversation: Conversation;
  readonly #canPlan: boolean;

  constructor(steps: readonly Step[], conversation: Conversation, tools: readonly string[]) {
    this.#steps = steps;
    this.#conversation = conversation;
    this.#canPlan = canPlan(tools);
  }

  /** The calls that write the plan, before the first attempt; none without plan tools. */
  get opening(): Call[] {
    const { calls, todos } = this.#conversation;
    if (!this.#canPlan || calls.some(({ name }) => name === "write_todos")) return [];
    // Only a finished plan can be replaced.
    const unfinished = todos.filter((item) => isOpen(item) || item.status === "blocked");
    return [...cancelling(unfinished), call("write_todos", { todos: this.#steps })];
  }

  /** The message by which a person rejected the plan. */
  get rejection(): string | undefined {
    const refusal = this.#conversation.calls.find(({ name, failed }) => name === "write_todos" && failed);
    return refusal?.result.startsWith("The user rejected") ? refusal.result : undefined;
  }

  /** The reason why an unfinished step must not be done; undefined if it may. */
  objection(step: string): string | undefined {
    if (!this.#isWritten) return undefined;
    const item = this.#item(step);
    if (!item) return "it is not in the plan any more";
    if (item.status === "cancelled") return "it was cancelled in the plan";
    if (item.status === "blocked") return "it is blocked in the plan";
    return item.status === "completed" ? "someone else marked it as completed" : undefined;
  }

  /** The id of an open step, for a sub-agent. */
  idOf(step: string): string | undefined {
    const item = this.#isWritten ? this.#item(step) : undefined;
    return item && isOpen(item) ? item.id : undefined;
  }

  /** The call that reports progress, beside the next calls; none if the plan is up to date. */
  report({ done, blocked = new Map() }: Progress, pointless: readonly Item[] = []): Call[] {
    const { calls, todos, findCall } = this.#conversation;
    const refusals = calls.filter(({ name, failed }) => name === "update_todos" && failed);
    if (!this.#isWritten || refusals.length >= MOST_REFUSALS) return [];
    const open = todos.filter(isOpen);
    const reasons = new Map(
      open.flatMap((item) => {
        const step = this.#stepOf(item);
        const reason = step === undefined ? STRANGE : blocked.get(step);
        return reason === undefined ? [] : [[item, reason] as const];
      }),
    );
    const rest = open.filter((item) => !reasons.has(item));
    const dropped = rest.filter((item) => pointless.includes(item) || this.#refusalsOf(item) > 1);
    const completed = rest.filter((item) => this.#isDone(item, done) && !dropped.includes(item));
    const closing = [...dropped, ...reasons.keys()];
    const lost = [
      ...closing,
      ...todos.filter(({ status }) => status === "cancelled" || status === "blocked"),
    ];
    // An item would wait forever for a cancelled or blocked one.
    const edit = open
      .filter((item) => !closing.includes(item) && item.dependsOn?.some((id) => has(lost, id)))
      .map(({ id, dependsOn }) => ({ id, after: dependsOn!.filter((other) => !has(lost, other)) }));
    const block = [...reasons].map(([{ id }, reason]) => `${id}: ${plain(reason)}`).join("; ");
    const args = {
      ...(completed.length > 0 && { done: idsOf(completed) }),
      // A verifier may accept a note if nothing else shows the work.
      ...(completed.some((item) => this.#refusalsOf(item) > 0) && { note: NOTE }),
      ...(dropped.length > 0 && { cancel: idsOf(dropped) }),
      ...(block !== "" && { block }),
      ...(edit.length > 0 && { edit }),
    };
    const update = call("update_todos", args);
    // An update that was made and had no effect was refused, and would be again.
    return Object.keys(args).length > 0 && !findCall(update) ? [update] : [];
  }

  /** The answer, or first the missing updates of the plan. */
  close(progress: Progress, answer: string): Answer {
    const { todos, system, calledBack } = this.#conversation;
    const open = todos.filter(isOpen);
    const remaining = open.filter((item) => !this.#isDone(item, progress.done));
    const isLast = open.length === 1 && remaining.length === 0 && open[0]!.status === "in_progress";
    const completesLast = /final answer completes the last item/.test(system) && !calledBack;
    if (isLast && completesLast) return answer;
    const update = this.report(progress, remaining);
    return update.length > 0 ? update : answer;
  }

  get #isWritten(): boolean {
    const { calls } = this.#conversation;
    return this.#canPlan && calls.some(({ name, failed }) => name === "write_todos" && !failed);
  }

  /** The number of times that a verifier refused to accept an item as completed. */
  #refusalsOf({ id }: Item): number {
    const words = `Item ${id} is not accepted as completed`;
    return this.#conversation.calls.filter(({ result }) => result.includes(words)).length;
  }

  #isDone(item: Item, done: readonly string[]): boolean {
    const step = this.#stepOf(item);
    return step !== undefined && done.includes(step);
  }

  /** The step of an item, by its text or, if a person has changed that, by its id: ids are consecutive. */
  #stepOf({ id, content }: Item): string | undefined {
    const steps = this.#steps.map((step) => step.content);
    if (steps.includes(content)) return content;
    const { todos } = this.#conversation;
    const lowest = Math.min(...todos.map((item) => Number(item.id)));
    // The ids of a later plan of the thread follow those of an earlier one.
    const step = steps[Number(id) - (lowest > steps.length ? lowest : 1)];
    return todos.some((item) => item.content === step) ? undefined : step;
  }

  #item(step: string): Item | undefined {
    return this.#conversation.todos.find((item) => this.#stepOf(item) === step);
  }
}

/** Whether an item is pending or in progress. */
export function isOpen({ status }: Item): boolean {
  return status === "pending" || status === "in_progress";
}

function idsOf(items: readonly Item[]): string {
  return items.map(({ id }) => id).join(",");
}

function has(items: readonly Item[], id: string): boolean {
  return items.some((item) => item.id === id);
}

/** A reason without the characters that separate reasons. */
function plain(reason: string): string {
  return reason.replaceAll(/[;,:]+\s*/g, " ").trim();
}
