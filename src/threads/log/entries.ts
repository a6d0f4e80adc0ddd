import type { Change } from "../../plan/todo/index.ts";
import type { AskedCall, Question } from "../questions/index.ts";
import { MAIN } from "../view/index.ts";
import type { StampedEvent } from "./thread-events.ts";
import { sentBackWords, summaryWords } from "./words.ts";

interface Common {
  /** A key that stays the same while the conversation grows. */
  key: number;
  at: number;
  owner: string;
}

type TaskEntry = Common & { kind: "task"; text: string };
/** An answer of the model. The text is empty if there are only thoughts. */
type TextEntry = Common & { kind: "text"; text: string; thoughts?: string; isOpen: boolean };
export type CallEntry = Common & {
  kind: "call";
  call: string;
  name: string;
  about: string;
  args?: unknown;
  endedAt?: number;
  /** The end of the run, if the call had not ended by then. */
  cutAt?: number;
  /** Whether its run ended with a question: the call continues with the answer, or has not started. */
  isWaiting?: boolean;
  /** Whether the user rejected it. */
  isRejected?: boolean;
  ok?: boolean;
  result?: string;
  output?: string;
  exitCode?: number | null;
  verdict?: "part" | "failed";
};
/** The start of a sub-agent. Its own entries have `helper` as their owner. */
type HelperEntry = Common & { kind: "helper"; helper: string };
export type PlanEntry = Common & {
  kind: "plan";
  by: "model" | "person" | "harness";
  changes: Change[];
  /** The content at that time of items whose status changed, by id. */
  names: Readonly<Record<string, string>>;
  /** The new rules of the plan, if they changed. */
  rules?: readonly string[];
};
export type QuestionEntry = Common & { kind: "question"; question: Question; answer?: unknown };
type NoticeEntry = Common & { kind: "notice"; text: string };
export type EndEntry = Common & {
  kind: "end";
  outcome: "done" | "open" | "waiting" | "failed" | "interrupted";
  reason?: string;
  error?: string;
};

/** One part of a conversation. */
export type Entry =
  | TaskEntry
  | TextEntry
  | CallEntry
  | HelperEntry
  | PlanEntry
  | QuestionEntry
  | NoticeEntry
  | EndEntry;

type WithoutKey<Of> = Of extends Entry ? Omit<Of, "key"> : never;

/** The entries of a conversation, with an index of those that are open. */
export class ConversationEntries {
  readonly #original: readonly Entry[];
  readonly #entries: Entry[];
  #isChanged = false;
  /** The index of each open entry, by its key. */
  readonly #open = new Map<string, number>();
  readonly #helpers = new Set<string>();

  constructor(entries: readonly Entry[]) {
    this.#original = entries;
    this.#entries = [...entries];
    this.#indexAll();
  }

  /** The same array as before if nothing changed. */
  get entries(): readonly Entry[] {
    return this.#isChanged ? this.#entries : this.#original;
  }

  get task(): string | undefined {
    return this.#entries.findLast((entry) => entry.kind === "task")?.text;
  }

  follow(event: StampedEvent): void {
    const { at } = event;
    switch (event.type) {
      case "run-start":
        if (event.task === undefined) return;
        // A new task instead of an answer.
        for (const index of this.#open.values()) if (this.#isWaiting(index)) this.#cut(index, at);
        this.#add({ kind: "task", at, owner: MAIN, text: event.task });
        return;
      case "message":
        return this.#add({ kind: "task", at, owner: MAIN, text: event.text });
      case "text": {
        const { owner, text } = event;
        const index = this.#open.get(textKey(owner));
        if (index === undefined) return this.#add({ kind: "text", at, owner, text, isOpen: true });
        const before = this.#entries[index] as TextEntry;
        return this.#put(index, { ...before, text: event.anew ? text : before.text + text });
      }
      case "thought": {
        const { owner, text: thoughts } = event;
        const index = this.#open.get(textKey(owner));
        if (index === undefined)
          return this.#add({ kind: "text", at, owner, text: "", thoughts, isOpen: true });
        const before = this.#entries[index] as TextEntry;
        return this.#put(index, { ...before, thoughts: (before.thoughts ?? "") + thoughts });
      }
      case "model-retry":
        return this.#remove(this.#open.get(textKey(event.owner)));
      case "model-end": {
        const { owner, text, thoughts } = event;
        const index = this.#open.get(textKey(owner));
        if (!text.trim() && !thoughts) return this.#remove(index);
        const whole = { text, thoughts: thoughts || undefined, isOpen: false };
        if (index === undefined) return this.#add({ kind: "text", at, owner, ...whole });
        return this.#put(index, { ...(this.#entries[index] as TextEntry), ...whole });
      }
      case "tool-start": {
        const { owner, call, name, about, args } = event;
        const index = this.#open.get(callKey(owner, call));
        const begun = { kind: "call" as const, at, owner, call, name, about, args };
        if (index !== undefined && this.#isWaiting(index))
          return this.#put(index, { ...begun, key: this.#entries[index]!.key });
        // A repeated call replaces one that did not end.
        this.#cut(index, at);
        return this.#add(begun);
      }
      case "tool-output": {
        const index = this.#open.get(callKey(event.owner, event.call));
        if (index === undefined) return;
        return this.#put(index, { ...(this.#entries[index] as CallEntry), output: event.text });
      }
      case "tool-end": {
        const { owner, call, name, about, args, ok, result, output, exitCode, verdict } = event;
        const end = { endedAt: at, ok, result, output, exitCode, verdict };
        const index = this.#open.get(callKey(owner, call));
        if (index === undefined)
          return this.#add({ kind: "call", at, owner, call, name, about, args, ...end });
        return this.#put(index, { ...(this.#entries[index] as CallEntry), ...end });
      }
      case "subagent-start":
        if (this.#helpers.has(event.owner)) return;
        return this.#add({ kind: "helper", at, owner: parentOf(event.owner), helper: event.owner });
      case "plan-change": {
        const { owner, by, rules } = event;
        const changes = event.changes as unknown as Change[];
        return this.#add({ kind: "plan", at, owner, by, changes, names: namesIn(event), rules });
      }
      case "question": {
        const index = this.#open.get(questionKey(event.id));
        const question = questionOf(event);
        if (index === undefined) return this.#add({ kind: "question", at, owner: MAIN, question });
        return this.#put(index, { ...(this.#entries[index] as QuestionEntry), question });
      }
      case "answer": {
        const index = this.#open.get(questionKey(event.id));
        const { id, answer = null, question } = event;
        if (isRejection(answer)) this.#reject(index, event);
        if (index !== undefined)
          return this.#put(index, { ...(this.#entries[index] as QuestionEntry), answer });
        if (!question) return;
        const { kind, name, text = "" } = question;
        const call = name === undefined ? undefined : { owner: MAIN, call: id, name, args: {} };
        const answered = { id, kind, text, options: [], call };
        return this.#add({ kind: "question", at, owner: MAIN, question: answered, answer });
      }
      case "summary":
      case "summary-failure":
        return this.#add({ kind: "notice", at, owner: event.owner, text: summaryWords(event) });
      case "model-start": {
        const text = sentBackWords(event);
        return text === undefined ? undefined : this.#add({ kind: "notice", at, owner: event.owner, text });
      }
      case "notice":
        return this.#add({ kind: "notice", at, owner: MAIN, text: event.text });
      case "run-end": {
        const { outcome, reason, error } = event;
        const open = [...this.#open.values()];
        for (const index of open) {
          const entry = this.#entries[index]!;
          if (entry.kind === "text") this.#put(index, { ...entry, isOpen: false });
          else if (entry.kind === "call" && entry.cutAt === undefined && outcome === "waiting")
            this.#put(index, { ...entry, isWaiting: true });
          else this.#cut(index, at);
        }
        return this.#add({ kind: "end", at, owner: MAIN, outcome, reason, error });
      }
      case "plan-snapshot":
      case "completion-refusal":
      case "subagent-end":
    }
  }

  #add(entry: WithoutKey<Entry>): void {
    this.#put(this.#entries.length, { ...entry, key: (this.#entries.at(-1)?.key ?? 0) + 1 });
  }

  #put(index: number, entry: Entry): void {
    const before = this.#entries[index];
    const key = before && openKey(before);
    if (key !== undefined) this.#open.delete(key);
    this.#entries[index] = entry;
    this.#isChanged = true;
    this.#note(entry, index);
  }

  #cut(index: number | undefined, at: number): void {
    const entry = index === undefined ? undefined : this.#entries[index];
    if (entry?.kind === "call" && entry.cutAt === undefined && !entry.isRejected)
      this.#put(index!, { ...entry, cutAt: at, isWaiting: false });
  }

  /** Marks the call of a rejected question. In a replay the question has the id of its call. */
  #reject(index: number | undefined, { id, question }: Extract<StampedEvent, { type: "answer" }>): void {
    const asked = index === undefined ? undefined : (this.#entries[index] as QuestionEntry).question.call;
    const key = asked ? callKey(asked.owner, asked.call) : callKey(MAIN, id);
    const named = [...this.#open.values()].find((at) => {
      const entry = this.#entries[at]!;
      return entry.kind === "call" && entry.isWaiting === true && entry.name === question?.name;
    });
    const at = this.#open.get(key) ?? named;
    const entry = at === undefined ? undefined : this.#entries[at];
    if (entry?.kind === "call") this.#put(at!, { ...entry, isRejected: true, isWaiting: false });
  }

  #isWaiting(index: number): boolean {
    const entry = this.#entries[index];
    return entry?.kind === "call" && entry.isWaiting === true;
  }

  #remove(index: number | undefined): void {
    if (index === undefined) return;
    this.#entries.splice(index, 1);
    this.#isChanged = true;
    // The entries behind it have moved.
    this.#open.clear();
    this.#indexAll();
  }

  #indexAll(): void {
    for (const [index, entry] of this.#entries.entries()) this.#note(entry, index);
  }

  #note(entry: Entry, index: number): void {
    const key = openKey(entry);
    if (key !== undefined) this.#open.set(key, index);
    if (entry.kind === "helper") this.#helpers.add(entry.helper);
  }
}

function openKey(entry: Entry): string | undefined {
  switch (entry.kind) {
    case "text":
      return entry.isOpen ? textKey(entry.owner) : undefined;
    case "call":
      return entry.endedAt === undefined ? callKey(entry.owner, entry.call) : undefined;
    case "question":
      return entry.answer === undefined ? questionKey(entry.question.id) : undefined;
    default:
      return undefined;
  }
}

function isRejection(answer: unknown): boolean {
  return typeof answer === "object" && answer !== null && "type" in answer && answer.type === "reject";
}

const textKey = (owner: string): string => `text ${owner}`;
const callKey = (owner: string, call: string): string => `call ${owner} ${call}`;
const questionKey = (id: string): string => `question ${id}`;

/** The question of an event, without a call that was cut: a decision needs all of its arguments. */
export function questionOf(event: Extract<StampedEvent, { type: "question" }>): Question {
  const { id, kind, text, options, owner, todos, rules, call, error } = event;
  const wholeCall = call && !call.cut ? { ...call, args: call.args as AskedCall["args"] } : undefined;
  const plan = { todos: todos as Question["todos"], rules };
  return { id, kind, text, options, owner, ...plan, call: wholeCall, error };
}

/** The content of the items whose status changes. A later plan may reuse their ids. */
function namesIn({ changes, todos }: Extract<StampedEvent, { type: "plan-change" }>): PlanEntry["names"] {
  const ids = new Set(changes.flatMap(({ type, id }) => (type === "todo-status" ? id : [])));
  const items = todos.filter(({ id }) => ids.has(id));
  return Object.fromEntries(items.map(({ id, content }) => [id, content]));
}

/** The owner that started another: `main/a:1` for `main/a:1/b:2`. */
export function parentOf(owner: string): string {
  return owner.slice(0, Math.max(0, owner.lastIndexOf("/"))) || MAIN;
}
