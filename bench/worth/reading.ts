import { AIMessage, HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { draw } from "./draw.ts";
import { COMPLIANCE } from "./faults.ts";
import { REQUEST, stepIn, type JobStep } from "./job.ts";
import { idsReported, itemsInLines, itemsInList, reported, updated, type SeenItem } from "./plan-view.ts";
import { namesToDo, SUMMARY_MARK } from "./summarizer.ts";
import { workIn } from "./world.ts";

/** What the model knows: nothing but what the messages of one request say. */
export interface Belief {
  /** One more than the turns it can count: its call ids carry the number of the turn that made them. */
  turn: number;
  steps: readonly JobStep[];
  /** The whole task or a whole plan is in view. */
  isWhole: boolean;
  plan: readonly SeenItem[] | undefined;
  /** The last word on the plan is that nothing of it is left. */
  isFinished: boolean;
  /** Steps it takes for done: it saw a result, a plan that says so, or its own claim, and no refusal since. */
  done: ReadonlySet<string>;
  /** Steps of which it was told that they are not done. */
  refused: ReadonlySet<string>;
  /** It was told, in what it still sees, that work it had reported does not count. */
  wasDoubted: boolean;
  /** Turns in a row, up to now, whose plan calls were refused. */
  refusals: number;
  /** How often it was asked again, in this turn, for a call that was no JSON. */
  askedAgain: number;
  /** The harness's last word, if it spoke after the model's last turn. */
  reminder: "exit" | "other" | undefined;
  /** The step that the last turn's work call finished. */
  lastWork: string | undefined;
  /** The step whose work is not over yet. */
  begun: string | undefined;
}

/** The number of the turn that made a call. */
export const turnOf = (callId: string | undefined): number =>
  Number(/^call_(\d+)_/.exec(callId ?? "")?.[1] ?? 0);

/** Reads a request. `seed` decides which refusals the model takes to heart. */
export function readMessages(messages: readonly BaseMessage[], seed: string): Belief {
  // A refusal names items by id, and the plan that says which they are may stand below it.
  const glance = readAll(messages, new Reader(seed));
  const names = new Map(glance.plan?.map(({ id, name }) => [id, name]));
  return readAll(messages, new Reader(seed, names));
}

function readAll(messages: readonly BaseMessage[], reader: Reader): Belief {
  for (const message of messages) reader.read(message);
  return reader.belief();
}

class Reader {
  readonly #seed: string;
  readonly #names: ReadonlyMap<string, string>;
  readonly #steps = new Map<string, JobStep>();
  readonly #done = new Set<string>();
  readonly #refused = new Set<string>();
  readonly #calls = new Map<string, { name: string; args: Record<string, unknown> }>();
  #isTask = false;
  #plan: SeenItem[] | undefined;
  #isFinished = false;
  #wasDoubted = false;
  #turn = 0;
  #refusals = 0;
  #wasRefused = false;
  #reminder: Belief["reminder"];
  #askedAgain = 0;
  #lastWork: string | undefined;
  #begun: string | undefined;
  /** What the last turn's work calls reported, and the plan before it. */
  #report: { done: string[]; before: SeenItem[] } | undefined;

  constructor(seed: string, names: ReadonlyMap<string, string> = new Map()) {
    this.#seed = seed;
    this.#names = names;
  }

  belief(): Belief {
    const refusals = this.#wasRefused ? this.#refusals + 1 : 0;
    return {
      turn: this.#turn + 1,
      steps: [...this.#steps.values()],
      isWhole: this.#isTask || this.#plan !== undefined,
      plan: this.#plan,
      isFinished: this.#isFinished,
      done: this.#done,
      refused: this.#refused,
      wasDoubted: this.#wasDoubted,
      refusals,
      reminder: this.#reminder,
      askedAgain: this.#askedAgain,
      lastWork: this.#lastWork,
      begun: this.#begun,
    };
  }

  read(message: BaseMessage): void {
    if (HumanMessage.isInstance(message)) this.#readHuman(message);
    else if (AIMessage.isInstance(message)) this.#readOwn(message);
    else if (ToolMessage.isInstance(message)) this.#readResult(message);
  }

  #readHuman({ text, name }: HumanMessage): void {
    if (text.startsWith(REQUEST)) {
      this.#isTask = true;
      for (const line of text.split("\n")) this.#learn(stepIn(line));
    } else if (text.includes(SUMMARY_MARK)) {
      for (const step of namesToDo(text)) this.#learn({ name: step, after: [] });
    } else {
      const items = itemsInLines(text);
      this.#reminder = name === "todo_completion_reminder" ? "exit" : "other";
      if (name === "tool_call_reminder") this.#askedAgain += 1;
      if (this.#reminder === "exit") this.#reopen(items);
      else if (items.length > 0) this.#see(items);
      this.#readRefusal(text, this.#turn);
    }
  }

  #readOwn(message: AIMessage): void {
    const calls = message.tool_calls ?? [];
    const turns = calls.map((call) => turnOf(call.id));
    this.#turn = turns.length > 0 ? Math.max(...turns) : this.#turn + 1;
    this.#refusals = this.#wasRefused ? this.#refusals + 1 : 0;
    this.#wasRefused = false;
    this.#reminder = undefined;
    this.#askedAgain = 0;
    this.#lastWork = undefined;
    for (const call of calls) this.#calls.set(call.id ?? "", call);
    for (const [, name] of message.text.matchAll(/Finished (\w+)\./g)) this.#finish(name!);
    // Its own mention of a name is knowledge of it, also when the call that carried the list was refused.
    for (const call of calls) this.#learnFrom(call.args);
    const done = calls.flatMap(({ args }) => idsReported({ done: args["todo_done"] }));
    this.#report = this.#plan && done.length > 0 ? { done, before: this.#plan } : undefined;
    if (this.#report) this.#see(reported(this.#report.before, done));
  }

  #learnFrom(args: Record<string, unknown>): void {
    for (const item of itemsInList(args["todos"] ?? args["items"])) {
      if (!this.#steps.has(item.name)) this.#learn({ name: item.name, after: item.after });
    }
  }

  #readResult(message: ToolMessage): void {
    const call = this.#calls.get(message.tool_call_id);
    const { text } = message;
    const work = workIn(text);
    if (work) {
      this.#learn({ name: work.name, after: this.#steps.get(work.name)?.after ?? [] });
      this.#begun = work.isOver ? undefined : work.name;
      if (work.isOver) this.#finish((this.#lastWork = work.name));
      this.#readReply(text, turnOf(message.tool_call_id));
      return;
    }
    const items = itemsInResult(text);
    if (message.status === "error" || text.startsWith("Error")) {
      if (items.length > 0) this.#see(items);
      this.#wasRefused = true;
      this.#readRefusal(text, turnOf(message.tool_call_id));
      return;
    }
    this.#isFinished = /\b(\d+)\/\1 (?:done|completed)/.test(text);
    if (items.length > 0) this.#see(items);
    else if (call?.name === "write_todos") this.#see(updated(itemsInList(call.args["todos"]), [], text));
    else if (call && this.#plan) {
      const refused = [...text.matchAll(/(?:Item |Note: |\. )(\w+) is not (?:accepted|completed)/g)].map(
        ([, id]) => id!,
      );
      this.#see(
        updated(
          this.#plan,
          idsReported(call.args).filter((id) => !refused.includes(id)),
          text,
        ),
      );
    }
    this.#readRefusal(text, turnOf(message.tool_call_id));
  }

  /** The reply to what a work call reported: the whole plan, or a refusal, after which the plan is what it was. */
  #readReply(text: string, turn: number): void {
    const items = itemsInLines(text);
    if (items.length > 0) this.#see(items);
    if (!/Item \w+ (?:cannot|is not)|todo_done/.test(text)) return;
    this.#wasRefused = true;
    if (this.#report && items.length === 0) {
      const { done, before } = this.#report;
      const refused = [...text.matchAll(/Item (\w+) (?:cannot|is not)/g)].map(([, id]) => id!);
      const isWhole = text.includes("This report changed nothing") || refused.length === 0;
      const accepted = isWhole ? [] : done.filter((id) => !refused.includes(id));
      this.#plan = accepted.length > 0 ? reported(before, accepted) : before;
    }
    this.#readRefusal(text, turn);
  }

  /** A refusal that names items says that they are not done; the model believes it or does not. */
  #readRefusal(text: string, turn: number): void {
    if (draw(this.#seed, "complies", turn) >= COMPLIANCE) return;
    for (const [, id] of text.matchAll(/Item (\w+) (?:cannot be completed|is not accepted)/g)) {
      const name = this.#names.get(id!);
      if (name === undefined) continue;
      this.#done.delete(name);
      this.#refused.add(name);
      this.#wasDoubted = true;
    }
  }

  #see(items: SeenItem[]): void {
    this.#plan = items;
    for (const item of items) {
      const known = this.#steps.get(item.name)?.after ?? [];
      this.#learn({ name: item.name, after: item.after.length > 0 ? item.after : known });
      if (item.status === "completed") this.#finish(item.name);
    }
  }

  #reopen(items: readonly SeenItem[]): void {
    if (items.length === 0) return;
    const open = new Map(items.map((item) => [item.name, item]));
    if (!this.#plan) this.#see([...items]);
    else this.#plan = this.#plan.map((item) => open.get(item.name) ?? item);
  }

  #finish(name: string): void {
    this.#done.add(name);
    this.#refused.delete(name);
  }

  #learn(step: JobStep | undefined): void {
    if (step) this.#steps.set(step.name, step);
  }
}

/** The whole plan in a tool result: as JSON, between tags, or as a checklist. */
function itemsInResult(text: string): SeenItem[] {
  const json = /^(?:.*\n)?Updated todo list to (\[.*\])/.exec(text)?.[1];
  return json === undefined ? itemsInLines(text) : itemsInList(json);
}
