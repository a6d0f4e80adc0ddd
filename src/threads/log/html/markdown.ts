/** A piece of a line. */
export type Inline =
  | { type: "text"; text: string }
  | { type: "code"; text: string }
  | { type: "strong" | "emphasis"; children: Inline[] }
  | { type: "link"; href: string; children: Inline[] };

export type Block =
  | { type: "paragraph"; lines: Inline[][] }
  | { type: "heading"; level: number; children: Inline[] }
  | { type: "code"; language: string; text: string }
  | { type: "list"; isOrdered: boolean; start: number; items: Block[][] }
  | { type: "quote"; blocks: Block[] }
  | { type: "table"; head: Inline[][]; rows: Inline[][][] }
  | { type: "rule" };

/** Longer lines are shown as they are: the patterns are too slow on hostile input. */
const LONGEST_LINE = 4000;
/** Deeper lists and quotes are shown as text, so that hostile input cannot overflow the stack. */
const DEEPEST = 6;

/**
 * Reads the part of Markdown that models use. HTML and images are text, and links must be http or https. The result is
 * data that is drawn as nodes, never parsed as HTML.
 */
export function parseMarkdown(text: string, depth = 0): Block[] {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  const blocks: Block[] = [];
  let at = 0;
  const take = (isMore: (line: string, index: number) => boolean): string[] => {
    const from = at;
    while (at < lines.length && isMore(lines[at]!, at - from)) at += 1;
    return lines.slice(from, at);
  };
  while (at < lines.length) {
    const line = lines[at]!;
    const fence = /^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]*)/.exec(line);
    const heading = /^ {0,3}(#{1,6})\s+(.*?)\s*#*$/.exec(line);
    if (line.trim() === "") {
      at += 1;
    } else if (fence) {
      at += 1;
      const mark = fence[1]!;
      const code = take(
        (each) => !(each.trim().startsWith(mark) && each.trim().replaceAll(mark[0]!, "") === ""),
      );
      at += 1;
      blocks.push({ type: "code", language: fence[2] ?? "", text: code.join("\n") });
    } else if (heading) {
      at += 1;
      blocks.push({ type: "heading", level: heading[1]!.length, children: parseInline(heading[2]!) });
    } else if (/^ {0,3}([-*_])( *\1){2,} *$/.test(line)) {
      at += 1;
      blocks.push({ type: "rule" });
    } else if (/^ {0,3}>/.test(line) && depth < DEEPEST) {
      const quoted = take((each) => /^ {0,3}>/.test(each)).map((each) => each.replace(/^ {0,3}> ?/, ""));
      blocks.push({ type: "quote", blocks: parseMarkdown(quoted.join("\n"), depth + 1) });
    } else if (ITEM.test(line) && depth < DEEPEST) {
      blocks.push(
        parseList(
          take((each, index) => isOfList(each, index, line)),
          depth,
        ),
      );
    } else if (isRow(line) && /^ *\|?( *:?-+:? *\|)+( *:?-+:? *)?\|? *$/.test(lines[at + 1] ?? "")) {
      const [head, , ...rows] = take((each) => isRow(each)).map(cellsOf);
      blocks.push({ type: "table", head: head ?? [], rows });
    } else {
      const words = take((each, index) => index === 0 || !startsBlock(each));
      blocks.push({ type: "paragraph", lines: words.map((each) => parseInline(each.trim())) });
    }
  }
  return blocks;
}

const ITEM = /^( *)([-*+]|\d{1,9}[.)])\s+(.*)$/;

function startsBlock(line: string): boolean {
  return line.trim() === "" || /^ {0,3}(#{1,6}\s|>|`{3}|~{3})/.test(line) || ITEM.test(line);
}

/** Whether a line belongs to the list: an item, an indented line, or a blank one. */
function isOfList(line: string, index: number, first: string): boolean {
  if (index === 0 || line.trim() === "") return true;
  const isOrdered = /^\s*\d/.test(first);
  const item = ITEM.exec(line);
  if (item) return item[1]!.length >= 2 || /^\d/.test(item[2]!) === isOrdered;
  return /^\s{2,}/.test(line);
}

function parseList(lines: readonly string[], depth: number): Block {
  const indent = ITEM.exec(lines[0]!)![1]!.length;
  const items: string[][] = [];
  for (const line of lines) {
    const item = ITEM.exec(line);
    if (item && item[1]!.length <= indent + 1) items.push([item[3]!]);
    else items.at(-1)?.push(line.replace(new RegExp(`^ {0,${indent + 3}}`), ""));
  }
  const mark = ITEM.exec(lines[0]!)![2]!;
  return {
    type: "list",
    isOrdered: /\d/.test(mark),
    start: Number.parseInt(mark, 10) || 1,
    items: items.map((item) => parseMarkdown(item.join("\n").trimEnd(), depth + 1)),
  };
}

function isRow(line: string): boolean {
  return line.includes("|") && line.trim() !== "";
}

function cellsOf(line: string): Inline[][] {
  const inner = line.trim().replace(/^\|/, "").replace(/\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => parseInline(cell.trim().replaceAll(String.raw`\|`, "|")));
}

const INLINE =
  /(?<code>`{1,3})(?<codeText>[^]*?[^`])\k<code>(?!`)|\*\*(?<strong>(?=\S)[^]*?\S)\*\*|(?<!\w)_(?<under>(?=\S)[^_]*?\S)_(?!\w)|\*(?<star>(?=[^\s*])[^*]*?[^\s*])\*|(?<!!)\[(?<label>[^[\]]+)\]\((?<href>[^()\s]+)\)|(?<url>https?:\/\/[^\s<>"')\]]*[^\s<>"')\].,;:!?])/g;

export function parseInline(text: string, depth = 0): Inline[] {
  const pieces: Inline[] = [];
  let from = 0;
  for (const match of depth > DEEPEST || text.length > LONGEST_LINE ? [] : text.matchAll(INLINE)) {
    const { codeText, strong, under, star, label, href, url } = match.groups!;
    const inner = (words: string): Inline[] => parseInline(words, depth + 1);
    const emphasis = under ?? star;
    const target = safeAddress(href ?? url);
    const piece: Inline | undefined =
      codeText !== undefined
        ? { type: "code", text: codeText.trim() || codeText }
        : strong !== undefined
          ? { type: "strong", children: inner(strong) }
          : emphasis !== undefined
            ? { type: "emphasis", children: inner(emphasis) }
            : target === undefined
              ? undefined
              : { type: "link", href: target, children: [{ type: "text", text: label ?? url! }] };
    if (!piece) continue;
    if (match.index > from) pieces.push({ type: "text", text: text.slice(from, match.index) });
    pieces.push(piece);
    from = match.index + match[0].length;
  }
  if (from < text.length) pieces.push({ type: "text", text: text.slice(from) });
  return pieces;
}

function safeAddress(address: string | undefined): string | undefined {
  if (!address || !URL.canParse(address)) return undefined;
  const { protocol, href } = new URL(address);
  return protocol === "https:" || protocol === "http:" ? href : undefined;
}
