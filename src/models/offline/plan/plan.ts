import type { Answer, Call, Conversation, DoneCall } from "../conversation.ts";
import {
  openPlan,
  readPlan,
  tellNews,
  answerCompletes,
  lastOpen,
  type News,
  type PlanView,
  type Step,
} from "./lean.ts";
import { isOpen, says, type Item } from "./text.ts";

/** Progress of the work. Steps are named by their content. */
export interface Progress {
  done: readonly string[];
  /** Steps in progress, the first of them first. */
  current?: readonly string[];
  /** Steps that cannot be done, with the reason. */
  blocked?: ReadonlyMap<string, string>;
}

/** The remark on a step whose work a verifier has not seen. */
const NOTE = "a step of the task";

/** After this many refusals the plan is left as it is. */
const MOST_REFUSALS = 4;
const STRANGE = "a program in a model's place cannot do it";

/** True for the tools of a plan in preset `lean`: a program keeps no other. */
export function canPlan(tools: readonly string[]): boolean {
  return tools.includes("write_todos") && tools.includes("update_todos");
}

/** The plan of a task, with the changes that the model reports and those of others. */
export class Plan {
  readonly #steps: readonly Step[];
  readonly #conversation: Conversation;
  readonly #view: PlanView;
  readonly #canPlan: boolean;

  constructor(steps: readonly Step[], conversation: Conversation, tools: readonly string[]) {
    this.#steps = steps;
    this.#conversation = conversation;
    this.#canPlan = canPlan(tools);
    this.#view = readPlan(
      conversation,
      steps.map(({ content }) => content),
    );
  }

  /** The call that sets the plan, as long as there is none; nothing where there can be none. */
  get opening(): Call[] {
    const { written, items, refusal } = this.#view;
    if (!this.#canPlan || written || refusal !== undefined) return [];
    return openPlan(this.#steps, items);
  }

  /** The words in which a person rejected the plan. */
  get rejection(): string | undefined {
    const { refusal } = this.#view;
    return refusal?.startsWith("The user rejected") ? refusal : undefined;
  }

  /** Why a step with work left is not to be done; undefined when it is. */
  objection(step: string): string | undefined {
    if (!this.#view.written) return undefined;
    const item = this.#item(step);
    if (!item) return "it is not in the plan any more";
    if (item.status === "cancelled") return "it was cancelled in the plan";
    if (item.status === "blocked") return "it is blocked in the plan";
    return item.status === "completed" ? "somebody else marked it as completed" : undefined;
  }

  /** The id of a step that is not closed, to give it to a sub-agent. */
  idOf(step: string): string | undefined {
    const item = this.#view.written ? this.#item(step) : undefined;
    return item && isOpen(item) ? item.id : undefined;
  }

  /** The call that reports progress, to stand beside the next work; nothing when there is no news. */
  report(progress: Progress): Call[] {
    return this.#update(progress, []);
  }

  /** The answer, or first the changes that the plan does not have yet. */
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
    const { written, items, refused } = this.#view;
    if (!this.#canPlan || !written || refused >= MOST_REFUSALS) return [];
    const open = items.filter(isOpen);
    const block = open.flatMap((item) => {
      const reason = blocked.get(this.#stepOf(item) ?? "") ?? (this.#stepOf(item) ? undefined : STRANGE);
      return reason === undefined ? [] : { item, reason };
    });
    const rest = open.filter((item) => !block.some((one) => one.item === item));
    const finished = rest.filter((item) => this.#isDone(item, { done }));
    const dropped = rest.filter((item) => pointless.includes(item) || this.#isRefused(item));
    const news: News = {
      completed: finished.filter((item) => !dropped.includes(item)),
      cancelled: dropped,
      blocked: block,
      current: current.flatMap((step) => this.#item(step) ?? []),
      // Where nothing else shows the work, a verifier may take its word.
      ...(finished.some((item) => this.#isDoubted(item)) && { note: NOTE }),
    };
    // A change that left no trace was refused, and would be again.
    return tellNews(news, this.#view).filter((change) => !this.#conversation.made(change));
  }

  /** Whether a verifier did not accept an item as completed, and asked for no note or had one. */
  #isRefused(item: Item): boolean {
    const refusals = this.#refusalsOf(item);
    return refusals.length > 0 && (refusals.some(({ args }) => args["note"]) || !this.#isDoubted(item));
  }

  /** Whether a verifier wants to be told what was done for an item. */
  #isDoubted(item: Item): boolean {
    return this.#refusalsOf(item).some(({ result }) => result.includes(`{"done":"${item.id}: `));
  }

  #refusalsOf({ id }: Item): DoneCall[] {
    const words = `Item ${id} is not accepted as completed`;
    return this.#conversation.calls.filter(({ result }) => result.includes(words));
  }

  #isDone(item: Item, { done }: Pick<Progress, "done">): boolean {
    const step = this.#stepOf(item);
    return step !== undefined && done.includes(step);
  }

  /** The step of an item by its id or, without a known id, by its words, unless they are another's. */
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
