/** An item of the plan as far as the conversation shows it. */
export interface Item {
  id: string;
  /** In a snapshot followed by what it waits for. */
  content: string;
  status: "pending" | "in_progress" | "completed" | "blocked" | "cancelled";
  after: string[];
}

const STATUSES = {
  " ": "pending",
  ">": "in_progress",
  x: "completed",
  "!": "blocked",
  "-": "cancelled",
} as const;

/** A reminder says it of the plan as it is, a tool result of the plan before the call or of the one that it proposed. */
const NEWS =
  /^The user (?:changed (?:your plan|the plan before this call)|edited this plan before approving it\. Against yours): (.+)\.$/m;

/** As `JSON.stringify` writes it. */
const STRING = String.raw`"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[\da-f]{4}))*"`;

/** A clause is read to its end, so that nothing in a person's words is taken for another one. */
const CLAUSES = [
  String.raw`(?<status>\S+)(?: ${STRING})? is now (?<now>\w+)`,
  String.raw`removed (?<removed>[^\s;]+)(?: ${STRING})?`,
  String.raw`added (?<added>\S+) "(?<words>[^]*?)" \((?<as>${Object.values(STATUSES).join("|")})\)`,
  String.raw`(?<renamed>\S+) has content (?<content>${STRING})(?:${STRING}|[^";])*`,
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

/** The whole plan in a tool result, where it is shown. `before` has the words of cancelled items. */
export function readSnapshot(result: string, before: readonly Item[] = []): Item[] | undefined {
  const start = result.indexOf("<plan>\n");
  const end = result.lastIndexOf("\n</plan>");
  return start < 0 || end < start
    ? undefined
    : readItems(result.slice(start + "<plan>\n".length, end), before);
}

/** The items that stand in a text, each in a line of its own; cancelled ones have a line of ids. */
export function readItems(text: string, before: readonly Item[] = []): Item[] {
  return text.split("\n").flatMap((line): Item | Item[] => {
    const [, cancelled] = /^\[-\] ([^\s:]+(?:, [^\s:]+)*)$/.exec(line) ?? [];
    if (cancelled !== undefined) {
      return cancelled.split(", ").map((id): Item => {
        const content = before.find((item) => item.id === id)?.content ?? "";
        return { id, content, status: "cancelled", after: [] };
      });
    }
    const [, mark, id, content] = /^\[([ >x!-])\] (\S+): (.*)$/.exec(line) ?? [];
    if (id === undefined) return [];
    const after = /\((?:[^()]*; )?after ([\w, -]+?)(?:; [^()]*)?\)$/.exec(content!)?.[1]?.split(", ") ?? [];
    return { id, content: content!, status: STATUSES[mark as keyof typeof STATUSES], after };
  });
}

/** The ids of the items that a person added, as a text reports it. */
export function addedIds(text: string): (string | undefined)[] {
  return clausesIn(text).map(({ added }) => added);
}

function clausesIn(text: string): Record<string, string | undefined>[] {
  return [...(NEWS.exec(text)?.[1] ?? "").matchAll(CLAUSE)].map(({ groups = {} }) => groups);
}

/** Items with the edits of a person that a text reports. */
export function withEdits(items: readonly Item[], text: string): Item[] {
  let edited = [...items];
  for (const groups of clausesIn(text)) {
    const { status, now, removed, added, words, as, renamed, content } = groups;
    if (added !== undefined) {
      const item: Item = { id: added, content: words!, status: as as Item["status"], after: [] };
      edited = edited.some(({ id }) => id === added) ? edited : [...edited, item];
    } else if (status !== undefined) edited = withChange(edited, status, { status: now as Item["status"] });
    else if (removed !== undefined) edited = edited.filter(({ id }) => id !== removed);
    else edited = withChange(edited, renamed!, { content: JSON.parse(content!) as string });
  }
  return edited;
}

/** Items with a change to one of them. */
export function withChange(items: readonly Item[], id: string, change: Partial<Item>): Item[] {
  return items.map((item) => (item.id === id ? { ...item, ...change } : item));
}
