/** An item of the plan as far as the conversation shows it. */
export interface Item {
  id: string;
  /** In a snapshot followed by what it waits for. */
  content: string;
  status: "pending" | "in_progress" | "completed" | "blocked" | "cancelled";
  after: string[];
}

/** One thing that a person did to the plan. */
export type Edit =
  | { type: "status"; id: string; status: Item["status"] }
  | { type: "remove"; id: string }
  | { type: "rename"; id: string; content: string }
  | { type: "add"; item: Item };

const STATUSES = {
  " ": "pending",
  ">": "in_progress",
  x: "completed",
  "!": "blocked",
  "-": "cancelled",
} as const;

/** A reminder says it of the plan as it is, a tool result of the plan before the call. */
const NEWS =
  /^(?:<\w+>)?The user (?:changed|edited) (?:your plan|your todos|the todo list|the plan before this call): (.+)\.(?:<\/\w+>)?$/m;

/** As `JSON.stringify` writes it. */
const STRING = String.raw`"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[\da-f]{4}))*"`;

/** A clause is read to its end, so that nothing in a person's words is taken for another one. */
const CLAUSES = [
  String.raw`(?<status>\S+) is now (?<now>\w+)`,
  String.raw`removed (?<removed>[^\s;]+)`,
  String.raw`added (?<added>\S+) "(?<words>[^]*?)" \((?<as>${Object.values(STATUSES).join("|")})\)`,
  String.raw`(?<edited>\S+) has content (?<text>${STRING})(?:${STRING}|[^";])*`,
].map((clause) => `${clause}(?=; |$)`);
const CLAUSE = new RegExp(`(?:^|; )(?:${CLAUSES.join("|")})`, "gu");

/** Whether an item still waits or is worked on. */
export function isOpen({ status }: Item): boolean {
  return status === "pending" || status === "in_progress";
}

/** Whether an item has the words of a step. */
export function says({ content }: Item, step: string): boolean {
  return content === step || (content.startsWith(`${step} (`) && content.endsWith(")"));
}

/** The whole plan in a tool result, where it is shown. */
export function readSnapshot(result: string): Item[] | undefined {
  const start = result.indexOf("<plan>\n");
  const end = result.lastIndexOf("\n</plan>");
  return start < 0 || end < start ? undefined : readItems(result.slice(start + "<plan>\n".length, end));
}

/** The items that stand in a text, each in a line of its own. */
export function readItems(text: string): Item[] {
  return text.split("\n").flatMap((line): Item | Item[] => {
    const [, mark, id, content] = /^\[([ >x!-])\] (\S+): (.*)$/.exec(line) ?? [];
    if (id === undefined) return [];
    const after = /\((?:[^()]*; )?after ([\w, -]+?)(?:; [^()]*)?\)$/.exec(content!)?.[1]?.split(", ") ?? [];
    return { id, content: content!, status: STATUSES[mark as keyof typeof STATUSES], after };
  });
}

/** The edits of a person that a text reports, in their order. */
export function readEdits(text: string): Edit[] {
  const clauses = (NEWS.exec(text)?.[1] ?? "").matchAll(CLAUSE);
  return [...clauses].map(({ groups = {} }): Edit => {
    const { status, now, removed, added, words, as, edited, text: content } = groups;
    if (status !== undefined) return { type: "status", id: status, status: now as Item["status"] };
    if (removed !== undefined) return { type: "remove", id: removed };
    if (edited !== undefined) return { type: "rename", id: edited, content: JSON.parse(content!) as string };
    const item = { id: added!, content: words!, status: as as Item["status"], after: [] };
    return { type: "add", item };
  });
}
