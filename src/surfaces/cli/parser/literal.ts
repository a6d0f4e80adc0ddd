/**
 * Marks a word as text. Yargs parses every word that begins with a dash as flags, even after `--`, so text is marked
 * with a character that no process argument can contain, and unmarked after parsing.
 */
const MARK = "\0";

/** Marks words that are not flags: all after `--` (joined as one task for `run` and `session`), `-`, and "-x is broken". */
export function markLiterals(args: readonly string[]): string[] {
  const end = args.includes("--") ? args.indexOf("--") : args.length;
  const rest = args.slice(end + 1);
  const literals = ["run", "session"].includes(args[0] ?? "") && rest.length > 1 ? [rest.join(" ")] : rest;
  return [
    ...args.slice(0, end).map((word) => (isText(word) ? MARK + word : word)),
    ...literals.map((word) => MARK + word),
  ];
}

/** Removes the marks from all arguments. */
export function unmarkLiterals(argv: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(argv)) {
    argv[name] = Array.isArray(value) ? value.map(unmarked) : unmarked(value);
  }
}

export function unmarked<T>(value: T): T | string {
  return typeof value === "string" ? value.replaceAll(MARK, "") : value;
}

/** Whether a word is text: a flag has no space before its `=`. */
function isText(word: string): boolean {
  return word === "-" || /^-[^=\s]*\s/.test(word);
}
