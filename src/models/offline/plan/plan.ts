import { call, type Answer, type Call, type Conversation } from "../conversation.ts";
import { isOpen, says, type Item } from "./text.ts";
import { answerCompletes, lastOpen, readPlan, type PlanView } from "./view.ts";

/** A step of a plan: what it says, and the positions of those it waits for. */
export interface Step {
  content: string;
  after?: number[];
  /** Minutes. */
  estimate?: number;
}

/** Where the work stands. Steps are named by their content. */
export interface Progress {
  done: readonly string[];
  /** What is worked on now. */
  current?: string;
  /** Steps that cannot be done, with the reason. */
  blocked?: ReadonlyMap<string, string>;
}

/** After this many refusals the plan is left as it is. */
const MOST_REFUSALS = 4;
const STRANGE = "the offline model can only survey";

/** The plan of a job: what the model says about it, and what others made of it. */
export class Plan {
  readonly #steps: readonly Step[];
  readonly #conversation: Conversation;
  readonly #view: PlanView;
  readonly #enabled: boolean;

  constructor(steps: readonly Step[], conversation: Conversation, tools: readonly string[]) {
    this.#steps = steps;
    this.#conversation = conversation;
    this.#view = readPlan(
      conversation,
      steps.map(({ content }) => content),
    );
    this.#enabled = tools.includes("write_todos") && tools.includes("update_todos");
  }

  /** The call that sets the plan, as long as there is none; nothing where there can be none. */
  get opening(): Call[] {
    const { written, items, refusal } = this.#view;
    if (!this.#enabled || written || refusal !== undefined) return [];
    const left = items.filter((item) => isOpen(item) || item.status === "blocked").map(({ id }) => id);
    // Only a finished plan makes way for a new one.
    const clearing = left.length > 0 ? [call("update_todos", { cancel: left.join(",") })] : [];
    return [...clearing, call("write_todos", { todos: this.#steps })];
  }

  /** The words in which a person rejected the plan. */
  get rejection(): string | undefined {
    const { refusal } = this.#view;
    return refusal?.startsWith("The user rejected") ? refusal : undefined;
  }

  /** Why a step is not to be done; undefined when it is. */
  objection(step: string): string | undefined {
    if (!this.#view.written) return undefined;
    const item = this.#item(step);
    if (!item) return "it is not in the plan any more";
    if (item.status === "cancelled") return "it was cancelled in the plan";
    if (item.status === "blocked") return "it is blocked in the plan";
    return item.status === "completed" && !item.own ? "somebody else marked it as completed" : undefined;
  }

  /** The id of a step that is not closed. */
  idOf(step: string): string | undefined {
    const item = this.#view.written ? this.#item(step) : undefined;
    return item && isOpen(item) ? item.id : undefined;
  }

  /** The call that reports progress, to stand beside the next work; nothing when there is no news. */
  report(progress: Progress): Call[] {
    return this.#update(progress, []);
  }

  /** The answer, or first what the plan still has to be told. */
  close(progress: Progress, answer: string): Answer {
    const open = this.#view.written ? this.#view.items.filter(isOpen) : [];
    const last = lastOpen(open);
    const completes = answerCompletes(this.#conversation) && !this.#conversation.calledBack;
    if (last && this.#isDone(last, progress) && completes) return answer;
    const rest = open.filter((item) => !this.#isDone(item, progress));
    const update = this.#update(progress, rest);
    return update.length > 0 ? update : answer;
  }

  #update({ done, current, blocked = new Map() }: Progress, pointless: readonly Item[]): Call[] {
    const { written, items, unaccepted, refused } = this.#view;
    if (!written || refused >= MOST_REFUSALS) return [];
    const open = items.filter(isOpen);
    const block = open.flatMap((item) => {
      const reason = blocked.get(this.#stepOf(item) ?? "") ?? (this.#stepOf(item) ? undefined : STRANGE);
      return reason === undefined ? [] : { item, reason };
    });
    const rest = open.filter((item) => !block.some((one) => one.item === item));
    const finished = rest.filter((item) => this.#isDone(item, { done }));
    const cancel = rest.filter((item) =>
      finished.includes(item) ? unaccepted.has(item.id) : pointless.includes(item),
    );
    const completed = finished.filter((item) => !cancel.includes(item));
    const stuck = items.filter(({ status }) => status === "cancelled" || status === "blocked");
    const lost = [...stuck, ...cancel, ...block.map(({ item }) => item)].map(({ id }) => id);
    const left = rest.filter((item) => !cancel.includes(item));
    const edit = left
      .filter(({ after }) => after.some((id) => lost.includes(id)))
      .map(({ id, after }) => ({ id, after: after.filter((other) => !lost.includes(other)) }));
    const next = current === undefined ? undefined : this.#item(current);
    const idle = completed.length === 0 && !open.some(({ status }) => status === "in_progress");
    const ids = (list: readonly Item[]): string => list.map(({ id }) => id).join(",");
    const args = {
      ...(completed.length > 0 && { done: ids(completed) }),
      ...(idle && next?.status === "pending" && { start: next.id }),
      ...(cancel.length > 0 && { cancel: ids(cancel) }),
      ...(block.length > 0 && {
        block: block.map(({ item, reason }) => `${item.id}: ${plain(reason)}`).join("; "),
      }),
      ...(edit.length > 0 && { edit }),
    };
    const update = call("update_todos", args);
    // What was refused would be refused again.
    const isNews = Object.keys(args).length > 0 && !this.#conversation.made(update)?.failed;
    return isNews ? [update] : [];
  }

  #isDone(item: Item, { done }: Pick<Progress, "done">): boolean {
    const step = this.#stepOf(item);
    return step !== undefined && done.includes(step);
  }

  /** By its id; an item that has none of the plan's ids is known by its words, unless they are another's. */
  #stepOf(item: Item): string | undefined {
    const { items, steps } = this.#view;
    const known = steps.get(item.id);
    if (known !== undefined) return known;
    const step = this.#steps.find(({ content }) => says(item, content))?.content;
    return items.some(({ id }) => steps.get(id) === step) ? undefined : step;
  }

  #item(step: string): Item | undefined {
    return this.#view.items.find((item) => this.#stepOf(item) === step);
  }
}

/** A reason without what separates reasons. */
function plain(reason: string): string {
  return reason.replaceAll(/[;,:]+\s*/g, " ").trim();
}
