import type { Todo } from "../../../plan/index.ts";

/** Endings of file names. A text with another ending, such as `v1.2`, is not a file. */
const ENDINGS =
  "[cm]?[jt]sx?|json[c5l]?|mdx?|txt|rst|adoc|py|ipynb|rb|go|rs|java|kts?|swift|[ch]|cc|[ch]pp|cs|php|pl|lua|r|sh|bash|zsh|ps1|" +
  "ya?ml|toml|ini|cfg|conf|env|lock|html?|css|scss|less|vue|svelte|xml|svg|sql|csv|tsv|proto|graphql|tf|pdf|docx|xlsx|png|jpe?g|gif";
const FILE = new RegExp(String.raw`(?<![\w@])(?:[\w.@~-]*/)*[\w.-]*\w\.(?:${ENDINGS})(?![\w/-]|\.\w)`, "gi");

/** Names of libraries that look like file names. */
const LIBRARY = /^(?:node|next|nuxt|vue|react|express|three|d3|chart|ember|discord|socket|asp)\.\w+$/i;

/** The files that an item names. */
export function filesIn(content: string): string[] {
  const names = content.match(FILE) ?? [];
  return [...new Set(names.filter((name) => !LIBRARY.test(name)))];
}

/** A command that an item asks for: its text, and the words that a call must contain. */
export interface NamedCommand {
  text: string;
  words: readonly string[];
}

const PLAIN = String.raw`npm|npx|pnpm|yarn|cargo|pytest|vitest|jest|tsc|eslint|ruff|mypy|gradle|mvn|dotnet|rake|phpunit`;
/** Programs whose names are also ordinary words: they count only after `run`, or between backticks. */
const WORDY = String.raw`make|go|git|node|deno|bun|python3?|ruby|php|docker|bash|sh|curl`;
const ARGUMENT = String.raw`(?:\s+(?:run|exec|-\S+))*(?:\s+(?!and\b|to\b|in\b|for\b|on\b|again\b|until\b|with\b)[\w@./:-]*\w)?`;
const COMMANDS = [
  new RegExp(String.raw`(?<![\w./-])(?:${PLAIN})\b${ARGUMENT}`, "gi"),
  new RegExp(String.raw`(?<=\b(?:re-?)?(?:run|execute)\s{1,3}\W?)(?:${WORDY})\b${ARGUMENT}`, "gi"),
  new RegExp(String.raw`(?<=${"`"})(?:${WORDY})\b[^${"`"}]*(?=${"`"})`, "gi"),
];
const TESTING =
  /\b(?:re-?)?run(?:ning)?\b[^.;]*?\b((?:all |the |unit |full )*(?:tests?|test suite|suite|build|lint(?:er)?|type-?check\w*|benchmarks?))\b/i;

/** The commands that an item asks for, by name or by purpose. */
export function commandsIn(content: string): NamedCommand[] {
  const commands = COMMANDS.flatMap((pattern) => content.match(pattern) ?? []);
  if (commands.length > 0) {
    return commands.map((text) => {
      const [program = "", ...rest] = text.trim().split(/\s+/);
      const words = rest.filter((word) => !/^(?:run|exec|-.*)$/.test(word));
      return { text: text.trim(), words: words.length > 0 ? words : [program] };
    });
  }
  const [, what] = TESTING.exec(content) ?? [];
  return what === undefined ? [] : [{ text: what, words: [] }];
}

/** Whether the work of an item is to tell the user something. */
export function isForAnswer(content: string): boolean {
  if (filesIn(content).length > 0 || commandsIn(content).length > 0) return false;
  return (
    /^(?:then |finally,? |and )?(?:tell|answer|report|reply|respond|inform|summari[sz]e|conclude)\b/i.test(
      content,
    ) ||
    /\b(?:to|for|with) the user\b/i.test(content) ||
    /\bfinal (?:answer|summary|report|response)\b/i.test(content)
  );
}

/** Whether an item only asks to look at things, which may have been done before the plan was made. */
export function isLooking(content: string): boolean {
  return /^(?:read|review|look|inspect|study|understand|examine|explore|analy[sz]e|survey|scan|find|investigate|research|list|locate|count|search|collect|gather|identify|see|get)\b/i.test(
    content,
  );
}

/** Whether a listing can be the work of an item. */
export function isFinding(content: string): boolean {
  return /^(?:list|find|locate|count|search|explore|survey|look|scan|identify|collect|gather)\b/i.test(
    content,
  );
}

/** The words of at least four characters, in lower case. */
export function wordsOf(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu));
}

/** The items that a text mentions, by a word that no other item has. */
export function itemsAbout(text: ReadonlySet<string>, todos: readonly Todo[]): Todo[] {
  const words = todos.map(({ content }) => wordsOf(content));
  const counts = new Map<string, number>();
  for (const word of words.flatMap((set) => [...set])) counts.set(word, (counts.get(word) ?? 0) + 1);
  return todos.filter((_, at) => [...words[at]!].some((word) => counts.get(word) === 1 && text.has(word)));
}
