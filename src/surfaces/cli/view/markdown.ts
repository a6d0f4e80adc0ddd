import { Lexer, type Token, type Tokens } from "marked";
import stringWidth from "string-width";
import {
  harmless,
  harmlessLines,
  joined,
  oneLine,
  padded,
  shown,
  wrapped,
  type Harmless,
  type Paint,
} from "../output/index.ts";
import { highlighted } from "./highlight.ts";

export interface MarkdownOptions {
  columns: number;
  paint: Paint;
}

/** Renders Markdown as rows for a terminal. Only lists and tables have marks, which would be copied with the text. */
export function markdownRows(source: string, options: MarkdownOptions): Harmless[] {
  return rowsOf(blocksOf(source), options);
}

export function blocksOf(source: string): Token[] {
  return new Lexer({ gfm: true }).blockTokens(source).filter(({ type }) => type !== "def");
}

/** Blocks with an empty row between two of them. */
function rowsOf(blocks: readonly Token[], options: MarkdownOptions): Harmless[] {
  return blocks
    .filter(({ type }) => type !== "space")
    .flatMap((block, at) => [...(at > 0 ? [shown``] : []), ...blockRows(block, options)]);
}

export function blockRows(block: Token, options: MarkdownOptions): Harmless[] {
  const { paint, columns } = options;
  switch (block.type) {
    case "heading": {
      const { depth, text } = block as Tokens.Heading;
      const style = depth < 3 ? (["bold", "underline"] as const) : ("bold" as const);
      return wrapped(inlineText(text, paint), columns, true).map((row) => paint([style].flat(), row));
    }
    case "code":
      return codeRows(block as Tokens.Code, options);
    case "list":
      return listRows(block as Tokens.List, options);
    case "blockquote": {
      const rows = rowsOf((block as Tokens.Blockquote).tokens, { paint, columns: columns - 2 });
      return rows.map((row) => shown`${paint("dim", shown`│`)} ${row}`);
    }
    case "table":
      return tableRows(block as Tokens.Table, options);
    case "hr":
      return [paint("dim", harmless("─".repeat(Math.min(40, columns))))];
    default:
      // HTML and other blocks are printed as they are.
      return paragraphRows("text" in block ? String(block.text) : block.raw, options);
  }
}

/** A paragraph. Its line breaks are kept, as models intend them. */
export function paragraphRows(text: string, { paint, columns }: MarkdownOptions): Harmless[] {
  return text
    .trimEnd()
    .split("\n")
    .flatMap((line) => wrapped(inlineText(line.trim(), paint), columns, true));
}

function codeRows({ text, lang = "" }: Tokens.Code, { paint, columns }: MarkdownOptions): Harmless[] {
  return harmlessLines(text).flatMap((line) => wrapped(highlighted(line, lang, paint), columns));
}

function listRows({ ordered, start, items }: Tokens.List, { paint, columns }: MarkdownOptions): Harmless[] {
  return items.flatMap((item, at) => {
    const box = item.task ? (item.checked ? "[x] " : "[ ] ") : "";
    const mark = ordered ? `${Number(start) + at}. ` : box ? "" : "• ";
    const front = oneLine(mark + box);
    const indent = padded(shown``, stringWidth(front) + 1);
    const room = Math.max(8, columns - stringWidth(indent));
    const blocks = item.tokens.filter(({ type }) => type !== "space" && type !== "checkbox");
    const rows = blocks.flatMap((block) => blockRows(block, { paint, columns: room }));
    const first = shown`${paint("dim", front)} ${rows[0] ?? shown``}`;
    return [first, ...rows.slice(1).map((row) => shown`${indent}${row}`)];
  });
}

/** A table; rows of `name: value` if it is too wide. */
function tableRows({ header, rows }: Tokens.Table, { paint, columns }: MarkdownOptions): Harmless[] {
  const cell = ({ text }: Tokens.TableCell): Harmless =>
    inlineText(text.replaceAll(/<br\s*\/?>/g, " "), paint);
  const names = header.map(cell);
  const body = rows.map((row) => row.map(cell));
  const widths = names.map((name, at) =>
    Math.max(stringWidth(name), ...body.map((row) => stringWidth(row[at] ?? ""))),
  );
  const total = widths.reduce((sum, width) => sum + width + 2, -2);
  if (total > columns) {
    return body.flatMap((row, index) => [
      ...(index > 0 ? [shown``] : []),
      ...row.flatMap((value, at) =>
        wrapped(shown`${paint("bold", names[at] ?? shown``)}: ${value}`, columns, true),
      ),
    ]);
  }
  const line = (cells: readonly Harmless[]): Harmless =>
    joined(
      widths.map((width, at) => padded(cells[at] ?? shown``, at === widths.length - 1 ? 0 : width)),
      "  ",
    );
  const rule = widths.map((width) => harmless("─".repeat(width)));
  return [paint("bold", line(names)), paint("dim", joined(rule, "  ")), ...body.map(line)];
}

/** Renders inline Markdown as colours. */
function inlineText(source: string, paint: Paint): Harmless {
  return joined(
    Lexer.lexInline(source.replaceAll("\n", " ")).map((token) => inlinePart(token, paint)),
    "",
  );
}

function inlinePart(token: Token, paint: Paint): Harmless {
  const inner = (): Harmless =>
    "tokens" in token && token.tokens
      ? joined(
          token.tokens.map((one) => inlinePart(one, paint)),
          "",
        )
      : harmless(plain("text" in token ? String(token.text) : token.raw));
  switch (token.type) {
    case "strong":
      return paint("bold", inner());
    case "em":
      return paint("italic", inner());
    case "del":
      return paint("strikethrough", inner());
    case "codespan":
      return paint("cyan", harmless((token as Tokens.Codespan).text));
    case "link": {
      const { href, text } = token as Tokens.Link;
      return href === text || href === `mailto:${text}`
        ? paint("underline", harmless(text))
        : shown`${inner()} ${paint("dim", shown`(${harmless(href)})`)}`;
    }
    case "image": {
      const { href, text } = token as Tokens.Image;
      return harmless(text ? `${text} (${href})` : href);
    }
    case "br":
      return shown` `;
    case "escape":
      return harmless((token as Tokens.Escape).text);
    default:
      return token.type === "html" ? harmless(token.raw) : inner();
  }
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&lt;": "<",
  "&gt;": ">",
  "&amp;": "&",
  "&quot;": '"',
  "&#39;": "'",
  "&nbsp;": " ",
};

function plain(text: string): string {
  return text.replaceAll(/&(?:lt|gt|amp|quot|#39|nbsp);/g, (entity) => ENTITIES[entity]!);
}
