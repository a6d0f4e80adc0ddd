import { stepIn } from "./job.ts";

/** An item of a plan as the model reads it. */
export interface SeenItem {
  id: string;
  name: string;
  status: "pending" | "in_progress" | "completed";
  after: string[];
}

const MARKS: Readonly<Record<string, SeenItem["status"]>> = { x: "completed", ">": "in_progress" };

/** Reads the lines of a rendered plan, such as `[x] 1: …`, `[>] #2: …` or `- [pending] …`. */
export function itemsInLines(text: string): SeenItem[] {
  const items: SeenItem[] = [];
  for (const [, mark = "", id, content = ""] of text.matchAll(
    /^\s*(?:- )?\[([^\]]+)\] (?:#?(\w+): )?(.*)$/gm,
  )) {
    const step = stepIn(content);
    if (!step) continue;
    const status = MARKS[mark] ?? (isStatus(mark) ? mark : "pending");
    items.push({ id: id ?? String(items.length + 1), name: step.name, status, after: step.after });
  }
  return withNames(items);
}

/** Reads the items of a full write, in any of the shapes in which this model sends them. */
export function itemsInList(sent: unknown): SeenItem[] {
  const list = typeof sent === "string" ? parsed(sent) : sent;
  if (!Array.isArray(list)) return [];
  const items = list.flatMap((entry: unknown, at): SeenItem[] => {
    const fields: SentItem = typeof entry === "string" ? { content: entry } : (entry as SentItem);
    const { id, status, after } = fields;
    const step = stepIn(fields.content ?? fields.text ?? fields.title ?? "");
    if (!step) return [];
    return [
      {
        id: id ?? String(at + 1),
        name: step.name,
        status: isStatus(status) ? status : "pending",
        after: Array.isArray(after) ? after.map(String) : step.after,
      },
    ];
  });
  return withNames(items);
}

interface SentItem {
  id?: string;
  content?: string;
  text?: string;
  title?: string;
  status?: string;
  after?: unknown;
}

/** The plan after an accepted update: what was reported is completed, and the result says what is in progress. */
export function updated(plan: readonly SeenItem[], done: readonly string[], result: string): SeenItem[] {
  const now = new Set(idsIn(/\bnow ([\w, ]+)/.exec(result)?.[1]));
  return plan.map((item): SeenItem => {
    if (now.has(item.id)) return { ...item, status: "in_progress" };
    if (done.includes(item.id) || item.status === "completed") return { ...item, status: "completed" };
    return { ...item, status: "pending" };
  });
}

/** The plan as a model takes it to be that has reported these items and knows that the next one starts by itself. */
export function reported(plan: readonly SeenItem[], done: readonly string[]): SeenItem[] {
  const after = plan.map((item): SeenItem =>
    done.includes(item.id) ? { ...item, status: "completed" } : item,
  );
  if (after.some(({ status }) => status === "in_progress")) return after;
  const names = new Set(after.filter(({ status }) => status === "completed").map(({ name }) => name));
  const next = after.find((item) => item.status === "pending" && item.after.every((name) => names.has(name)));
  return after.map((item): SeenItem => (item === next ? { ...item, status: "in_progress" } : item));
}

/** The ids that an update reports as done, in any of the shapes in which this model sends them. */
export function idsReported({ done, completed, todos }: Record<string, unknown>): string[] {
  if (typeof done === "string") return idsIn(done.replaceAll(/[[\]"]/g, ""));
  if (Array.isArray(done)) return done.map((id: unknown) => String((id as { id?: unknown }).id ?? id));
  if (Array.isArray(completed)) return completed.map(String);
  const list = typeof todos === "string" ? parsed(todos) : [];
  return Array.isArray(list) ? list.map((entry: { id?: unknown }) => String(entry.id)) : [];
}

function idsIn(text: string | undefined): string[] {
  return text?.split(/[,\s]+/).filter(Boolean) ?? [];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Dependencies are given by id in some dialects; the model thinks of them by name. */
function withNames(items: readonly SeenItem[]): SeenItem[] {
  const names = new Map(items.map(({ id, name }) => [id, name]));
  return items.map((item) => ({ ...item, after: item.after.map((id) => names.get(id) ?? id) }));
}

function isStatus(value: unknown): value is SeenItem["status"] {
  return value === "pending" || value === "in_progress" || value === "completed";
}
