import type { Change } from "../../plan/todo.ts";
import { MAIN } from "../view.ts";
import type { AskedCall, Question, StampedEvent } from "./told.ts";

interface Common {
  /** Its place in the conversation: stable while it grows. */
  key: number;
  at: number;
  /** Whose conversation it is in. */
  owner: string;
}

export type TaskEntry = Common & { kind: "task"; text: string };
export type TextEntry = Common & { kind: "text"; text: string; isOpen: boolean };
export type CallEntry = Common & {
  kind: "call";
  call: string;
  name: string;
  about: string;
  args?: unknown;
  endedAt?: number;
  /** The run ended before the call did. */
  cutAt?: number;
  ok?: boolean;
  result?: string;
  output?: string | undefined;
  exitCode?: number | null | undefined;
};
/** Where a sub-agent began; what it said and did has its own owner. */
export type HelperEntry = Common & { kind: "helper"; helper: string };
export type PlanEntry = Common & { kind: "plan"; by: "model" | "person" | "harness"; changes: Change[] };
export type QuestionEntry = Common & { kind: "question"; question: Question; answer?: unknown };
export type NoticeEntry = Common & { kind: "notice"; text: string };
export type EndEntry = Common & {
  kind: "end";
  outcome: "done" | "open" | "waiting" | "failed" | "interrupted";
  reason?: string | undefined;
  error?: string | undefined;
};

/** One piece of a conversation, in the order in which it began. */
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

/** The conversation after an event. */
export function withEntry(entries: readonly Entry[], event: StampedEvent): readonly Entry[] {
  const { at } = event;
  const add = (entry: WithoutKey<Entry>): readonly Entry[] => [
    ...entries,
    { ...entry, key: (entries.at(-1)?.key ?? 0) + 1 },
  ];
  switch (event.type) {
    case "run-start":
      return event.task === undefined ? entries : add({ kind: "task", at, owner: MAIN, text: event.task });
    case "text": {
      const index = openText(entries, event.owner);
      if (index < 0) return add({ kind: "text", at, owner: event.owner, text: event.text, isOpen: true });
      const { text, ...rest } = entries[index] as TextEntry;
      return entries.with(index, { ...rest, text: event.anew ? event.text : text + event.text });
    }
    case "model-retry": {
      const index = openText(entries, event.owner);
      return index < 0 ? entries : entries.toSpliced(index, 1);
    }
    case "model-end": {
      const { owner, text } = event;
      const index = openText(entries, owner);
      if (index < 0) return text.trim() ? add({ kind: "text", at, owner, text, isOpen: false }) : entries;
      if (!text.trim()) return entries.toSpliced(index, 1);
      return entries.with(index, { ...(entries[index] as TextEntry), text, isOpen: false });
    }
    case "tool-start": {
      const { owner, call, name, about, args } = event;
      return add({ kind: "call", at, owner, call, name, about, args });
    }
    case "tool-end": {
      const { owner, call, name, about, args, ok, result, output, exitCode } = event;
      const end = { endedAt: at, ok, result, output, exitCode };
      const index = entries.findLastIndex(
        (entry) => entry.kind === "call" && entry.call === call && entry.owner === owner && !entry.endedAt,
      );
      if (index < 0) return add({ kind: "call", at, owner, call, name, about, args, ...end });
      return entries.with(index, { ...(entries[index] as CallEntry), ...end });
    }
    case "subagent-start":
      if (entries.some((entry) => entry.kind === "helper" && entry.helper === event.owner)) return entries;
      return add({ kind: "helper", at, owner: parentOf(event.owner), helper: event.owner });
    case "plan-change": {
      const { owner, by } = event;
      return add({ kind: "plan", at, owner, by, changes: event.changes as unknown as Change[] });
    }
    case "question": {
      const asked = entries.findLastIndex(
        (entry) => entry.kind === "question" && entry.question.id === event.id && entry.answer === undefined,
      );
      const question = questionOf(event);
      if (asked < 0) return add({ kind: "question", at, owner: MAIN, question });
      return entries.with(asked, { ...(entries[asked] as QuestionEntry), question });
    }
    case "answer": {
      const index = entries.findLastIndex(
        (entry) => entry.kind === "question" && entry.question.id === event.id && entry.answer === undefined,
      );
      if (index < 0) return entries;
      return entries.with(index, { ...(entries[index] as QuestionEntry), answer: event.answer ?? null });
    }
    case "notice":
      return add({ kind: "notice", at, owner: MAIN, text: event.text });
    case "run-end": {
      const { outcome, reason, error } = event;
      const closed = entries.map((entry): Entry => {
        if (entry.kind === "text" && entry.isOpen) return { ...entry, isOpen: false };
        const isCut = entry.kind === "call" && entry.endedAt === undefined && entry.cutAt === undefined;
        return isCut ? { ...entry, cutAt: at } : entry;
      });
      return [
        ...closed,
        { kind: "end", at, owner: MAIN, outcome, reason, error, key: (entries.at(-1)?.key ?? 0) + 1 },
      ];
    }
    case "plan-snapshot":
    case "model-start":
    case "completion-refusal":
    case "subagent-end":
      return entries;
  }
}

/** The question of an event. A call that is cut is not to be decided about: the whole of it is asked for. */
export function questionOf(event: Extract<StampedEvent, { type: "question" }>): Question {
  const { id, kind, text, options, owner, todos, call, error } = event;
  const asked = call && !call.cut ? { ...call, args: call.args as AskedCall["args"] } : undefined;
  return { id, kind, text, options, owner, todos: todos as Question["todos"], call: asked, error };
}

/** `main/a:1/b:2` was started by `main/a:1`. */
export function parentOf(owner: string): string {
  return owner.slice(0, Math.max(0, owner.lastIndexOf("/"))) || MAIN;
}

function openText(entries: readonly Entry[], owner: string): number {
  return entries.findLastIndex((entry) => entry.kind === "text" && entry.isOpen && entry.owner === owner);
}
