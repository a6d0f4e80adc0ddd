import type { Answer, Call, Conversation } from "../conversation.ts";
import { dialectOf } from "./dialects.ts";
import { isOpen, says, type Item } from "./text.ts";
import {
  answerCompletes,
  lastOpen,
  readPlan,
  type Dialect,
  type News,
  type PlanView,
  type Step,
} from "./view.ts";

/** Where the work stands. Steps are named by their content. */
export interface Progress {
  done: readonly string[];
  /** What is worked on now, the first of it first. */
  current?: readonly string[];
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
  readonly #dialect: Dialect | undefined;

  constructor(steps: readonly Step[], conversation: Conversation, tools: readonly string[]) {
    this.#steps = steps;
    this.#conversation = conversation;
    this.#dialect = dialectOf(tools);
    this.#view = readPlan(
      conversation,
      this.#dialect,
      steps.map(({ content }) => content),
    );
  }

  /** The call that sets the plan, as long as there is none; nothing where there can be none. */
  get opening(): Call[] {
    const { written, items, refusal } = this.#view;
    if (!this.#dialect || written || refusal !== undefined) return [];
    return this.#dialect.open(this.#steps, items);
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

  /** The id of a step that is not closed, to give it to a helper. */
  idOf(step: string): string | undefined {
    const item = this.#view.written && this.#dialect?.givesItems ? this.#item(step) : undefined;
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

  #update({ done, current = [], blocked = new Map() }: Progress, pointless: readonly Item[]): Call[] {
    const { written, items, unaccepted, refused } = this.#view;
    if (!this.#dialect || !written || refused >= MOST_REFUSALS) return [];
    const open = items.filter(isOpen);
    const block = open.flatMap((item) => {
      const reason = blocked.get(this.#stepOf(item) ?? "") ?? (this.#stepOf(item) ? undefined : STRANGE);
      return reason === undefined ? [] : { item, reason };
    });
    const rest = open.filter((item) => !block.some((one) => one.item === item));
    const finished = rest.filter((item) => this.#isDone(item, { done }));
    const news: News = {
      completed: finished.filter(({ id }) => !unaccepted.has(id)),
      unaccepted: finished.filter(({ id }) => unaccepted.has(id)),
      cancelled: rest.filter((item) => !finished.includes(item) && pointless.includes(item)),
      blocked: block,
      current: current.flatMap((step) => this.#item(step) ?? []),
    };
    // What was refused would be refused again.
    return this.#dialect.tell(news, this.#view).filter((change) => !this.#conversation.made(change)?.failed);
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
