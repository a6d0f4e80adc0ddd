import { joined, part, type Harmless, type Style, type Paint } from "../output/index.ts";

/** The styles of tokens; everything else in a line is not coloured. */
const STYLES = {
  comment: "dim",
  string: "green",
  number: "yellow",
  keyword: "magenta",
  added: "green",
  removed: "red",
  place: "cyan",
} as const satisfies Record<string, Style>;
type Kind = keyof typeof STYLES;

/**
 * Colours a line of code. Each line is tokenized by itself: a token that spans several lines is coloured in the first
 * one only.
 */
export function highlighted(line: Harmless, language: string, paint: Paint): Harmless {
  // No one reads such a line, and matching it would be slow.
  if (line.length > MAX_LENGTH) return line;
  const parts: Harmless[] = [];
  let at = 0;
  for (const { index, groups = {}, 0: text } of line.matchAll(patternFor(language))) {
    const kind = (Object.keys(groups) as Kind[]).find((name) => groups[name] !== undefined);
    if (kind === undefined) continue;
    parts.push(part(line, at, index), paint(STYLES[kind], part(line, index, index + text.length)));
    at = index + text.length;
  }
  return joined([...parts, part(line, at)], "");
}

const MAX_LENGTH = 1000;

const STRING = String.raw`(?<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|${"`"}(?:\\.|[^${"`"}\\])*${"`"})`;
const NUMBER = String.raw`(?<number>\b(?:0x[\da-fA-F]+|\d[\d_]*(?:\.\d+)?)\b)`;
/** Reserved words of common languages; all languages share this list. */
const WORDS = `abstract|and|as|async|await|begin|break|case|catch|class|const|continue|def|default|del|do|done|elif|else|end|enum|except|export|extends|false|fi|finally|fn|for|foreach|from|func|function|if|impl|implements|import|in|interface|is|let|match|mod|module|mut|namespace|new|nil|none|not|null|of|or|package|pass|private|protected|pub|public|raise|readonly|return|self|static|struct|super|switch|then|this|throw|trait|true|try|type|typeof|undefined|use|using|var|void|when|where|while|with|yield`;
const QUERY_WORDS = `${WORDS}|add|alter|asc|by|create|cross|delete|desc|distinct|drop|exists|group|having|index|inner|insert|into|join|key|left|like|limit|local|offset|on|order|outer|primary|references|right|select|set|table|union|unique|update|values|view`;

function code(comment: string, words = WORDS, flags = "g"): RegExp {
  return new RegExp(`(?<comment>${comment})|${STRING}|${NUMBER}|(?<keyword>\\b(?:${words})\\b)`, flags);
}

const SLASHES = code(String.raw`//.*|/\*.*?(?:\*/|$)|^\s*\*.*`);
const HASH = code(String.raw`(?:^|\s)#.*`);
const DASHES = code("--.*", QUERY_WORDS, "gi");
const MARKUP = new RegExp(
  String.raw`(?<comment><!--.*?(?:-->|$))|(?<keyword></?[\w:.-]+|/?>)|${STRING}`,
  "g",
);
const CHANGES = /^(?:(?<added>\+.*)|(?<removed>-.*)|(?<place>@@.*))$/g;
const DATA = new RegExp(
  String.raw`(?<comment>(?:^|\s)#.*)|(?<place>"[^"]*"(?=\s*:)|^[\s-]*[\w.-]+(?=\s*[:=]))|${STRING}|${NUMBER}`,
  "g",
);
const NONE = /(?!)/g;

/** Patterns by language; all others have `//` comments. */
const PATTERNS: readonly (readonly [RegExp, RegExp])[] = [
  [/^(?:diff|patch)$/, CHANGES],
  [/^(?:json[c5]?|ya?ml|toml|ini|properties|env)$/, DATA],
  [
    /^(?:python|py|ruby|rb|sh|bash|zsh|shell|console|fish|perl|pl|r|make(?:file)?|docker(?:file)?|elixir|ex|nix|julia)$/,
    HASH,
  ],
  [/^(?:sql|lua|haskell|hs|elm|ada)$/, DASHES],
  [/^(?:html?|xml|svg|vue|svelte)$/, MARKUP],
  [/^(?:|text|txt|plain|md|markdown|log|csv)$/, NONE],
];

function patternFor(language: string): RegExp {
  const name = /^[\w+#-]*/.exec(language.trim().toLowerCase())?.[0] ?? "";
  return PATTERNS.find(([names]) => names.test(name))?.[1] ?? SLASHES;
}
