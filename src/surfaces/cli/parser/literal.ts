/**
 * The parser takes every word that begins with a dash for flags, also after `--`. Words that cannot be meant so are
 * marked with a character that no argument of a process can hold, and unmarked when they are parsed.
 */
const MARK = "\0";

/** Marks what is no flag: what stands after `--`, which for `run` and `session` is one task, a dash alone, and a text like "-x is broken". */
export function markLiterals(args: readonly string[]): string[] {
  const end = args.includes("--") ? args.indexOf("--") : args.length;
  const rest = args.slice(end + 1);
  const literals = ["run", "session"].includes(args[0] ?? "") && rest.length > 1 ? [rest.join(" ")] : rest;
  return [
    ...args.slice(0, end).map((word) => (isText(word) ? MARK + word : word)),
    ...literals.map((word) => MARK + word),
  ];
}

/** Takes the marks away again. */
export function unmarkLiterals(argv: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(argv)) {
    argv[name] = Array.isArray(value) ? value.map(unmarked) : unmarked(value);
  }
}

export function unmarked<T>(value: T): T | string {
  return typeof value === "string" ? value.replaceAll(MARK, "") : value;
}

/** A flag has no space before its value. */
function isText(word: string): boolean {
  return word === "-" || /^-[^=\s]*\s/.test(word);
}
