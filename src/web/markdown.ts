import { setImmediate as turn } from "node:timers/promises";
import type { Parser } from "htmlparser2";

/** Elements without text for a reader. */
const TEXTLESS = new Set([
  "script",
  "style",
  "noscript",
  "template",
  "svg",
  "iframe",
  "object",
  "canvas",
  "audio",
  "video",
]);
/** Elements around the content of a page. */
const AROUND = new Set(["nav", "footer", "aside", "form", "button", "select", "dialog", "menu"]);
const AROUND_ROLES = new Set(["navigation", "banner", "contentinfo", "complementary", "search", "dialog"]);
const PARAGRAPHS = new Set([
  "p",
  "div",
  "section",
  "article",
  "main",
  "header",
  "figure",
  "figcaption",
  "address",
  "dl",
  "fieldset",
  "ul",
  "ol",
  "table",
  "blockquote",
]);
const LINES = new Set(["dt", "dd", "summary", "details", "option", "caption", "tr"]);
const MARKS: Record<string, string> = {
  strong: "**",
  b: "**",
  em: "*",
  i: "*",
  code: "`",
  kbd: "`",
  samp: "`",
  del: "~~",
};
/** The deepest indent of lists and quotes. */
const MAX_INDENT = 8;
const MAX_OPEN_TAGS = 2000;

interface OpenTag {
  name: string;
  /** Ends the effect of the tag. */
  close?: () => void;
}

/** Converts a stream of HTML tags to Markdown, in one pass and without recursion, so that a deep page needs no deep stack. */
export class MarkdownWriter {
  readonly #base: URL;
  readonly #isBare: boolean;
  readonly #out: string[] = [];
  readonly #open: OpenTag[] = [];
  readonly #lists: { isOrdered: boolean; count: number }[] = [];
  #title = "";
  #isTitle = false;
  /** The number of open tags whose text is left out. */
  #muted = 0;
  /** The number of open tags of the page's content. */
  #inContent = 0;
  #content: { from: number; to: number; isMain: boolean } | undefined;
  #quotes = 0;
  #pre = 0;
  #tables = 0;
  #rows = 0;
  #cells = 0;
  #inCells = 0;
  #breaks = 0;
  #isSpaced = false;
  /** The number of text pieces. */
  #texts = 0;

  constructor(base: URL, { isBare }: { isBare: boolean }) {
    this.#base = base;
    this.#isBare = isBare;
  }

  /** Whether more tags are open than on any page for users: the parser needs more time for each tag in a deep page. */
  get isTooDeep(): boolean {
    return this.#open.length > MAX_OPEN_TAGS;
  }

  onopentag(name: string, attributes: Record<string, string>): void {
    const close = this.#begin(name, attributes);
    // The parser closes void tags such as `img` as well.
    this.#open.push({ name, close });
  }

  onclosetag(name: string): void {
    if (this.#open.at(-1)?.name !== name) return;
    this.#open.pop()?.close?.();
  }

  ontext(text: string): void {
    if (this.#isTitle) this.#title += text;
    if (this.#muted > 0 || this.#isTitle) return;
    if (this.#pre > 0) {
      this.#write(text);
      return;
    }
    const words = text.replaceAll(/[\s\u00A0]+/g, " ");
    if (words.startsWith(" ")) this.#isSpaced = true;
    const bare = words.trim();
    if (bare === "") return;
    this.#write(bare);
    this.#isSpaced = words.endsWith(" ");
  }

  /** The page's title and text: that of its `main` or `article` tags, if it has any. */
  page(): { title: string; text: string } {
    const { from = 0, to = this.#out.length } = this.#content ?? {};
    const text = this.#out
      .slice(from, to)
      .join("")
      .replaceAll(/(?<![ \t])[ \t]+$/gm, "")
      .replaceAll(/\n{3,}/g, "\n\n")
      .trim();
    return { title: this.#title.replaceAll(/\s+/g, " ").trim(), text };
  }

  #begin(name: string, attributes: Record<string, string>): (() => void) | undefined {
    if (this.#muted > 0 || this.#isLeftOut(name, attributes)) {
      this.#muted += 1;
      return () => void (this.#muted -= 1);
    }
    if (name === "title") {
      this.#isTitle = this.#title === "";
      return () => void (this.#isTitle = false);
    }
    if (name === "main" || name === "article") return this.#enterContent(name);
    if (/^h[1-6]$/.test(name)) {
      this.#break(2);
      this.#mark(`${"#".repeat(Number(name[1]))} `);
      return () => this.#break(2);
    }
    const mark = MARKS[name];
    if (mark !== undefined) return this.#pre > 0 ? undefined : this.#pair(mark, mark);
    switch (name) {
      case "br":
        this.#break(1);
        return undefined;
      case "hr":
        this.#break(2);
        this.#mark("---");
        this.#break(2);
        return undefined;
      case "img":
        if (attributes["alt"]?.trim()) this.#write(`[image: ${attributes["alt"].trim().slice(0, 200)}]`);
        return undefined;
      case "a":
        return this.#link(attributes["href"]);
      case "li":
        return this.#item();
      case "pre":
        return this.#preformatted(attributes);
      case "td":
      case "th":
        return this.#cell();
      default:
        return this.#container(name);
    }
  }

  #isLeftOut(name: string, attributes: Record<string, string>): boolean {
    if (TEXTLESS.has(name) || attributes["hidden"] !== undefined) return true;
    if (this.#isBare) return false;
    const isAround =
      AROUND.has(name) || AROUND_ROLES.has(attributes["role"] ?? "") || attributes["aria-hidden"] === "true";
    // The header of an article is its title; the header of a page is not.
    return isAround || (name === "header" && this.#inContent === 0);
  }

  #enterContent(name: string): () => void {
    this.#break(2);
    this.#inContent += 1;
    const from = this.#out.length;
    return () => {
      this.#inContent -= 1;
      this.#break(2);
      if (this.#isBare || this.#inContent > 0 || this.#content?.isMain) return;
      // Without a `main` tag the content goes from the first article to the last.
      const isMain = name === "main";
      this.#content = { from: isMain ? from : (this.#content?.from ?? from), to: this.#out.length, isMain };
    };
  }

  #container(name: string): (() => void) | undefined {
    const breaks = PARAGRAPHS.has(name) ? 2 : LINES.has(name) ? 1 : 0;
    if (breaks === 0) return undefined;
    const isList = name === "ul" || name === "ol";
    this.#break(isList && this.#lists.length > 0 ? 1 : breaks);
    if (isList) this.#lists.push({ isOrdered: name === "ol", count: 0 });
    if (name === "blockquote") this.#quotes += 1;
    if (name === "table") this.#tables += 1;
    const from = this.#cells;
    return () => {
      if (name === "tr") this.#endRow(from);
      if (isList) this.#lists.pop();
      if (name === "blockquote") this.#quotes -= 1;
      if (name === "table") this.#tables -= 1;
      if (name === "table" && this.#tables === 0) this.#rows = 0;
      this.#break(isList && this.#lists.length > 0 ? 1 : breaks);
    };
  }

  #cell(): () => void {
    if (this.#tables === 1) this.#mark("| ");
    this.#cells += 1;
    this.#inCells += 1;
    return () => {
      this.#inCells -= 1;
      this.#isSpaced = true;
    };
  }

  #endRow(from: number): void {
    if (this.#tables !== 1 || this.#cells === from) return;
    this.#mark("|");
    this.#rows += 1;
    if (this.#rows === 1) {
      this.#break(1);
      this.#mark(`${"| --- ".repeat(Math.min(this.#cells - from, 100))}|`);
    }
  }

  #item(): () => void {
    const list = this.#lists.at(-1);
    this.#break(1);
    const indent = "  ".repeat(Math.max(0, Math.min(this.#lists.length, MAX_INDENT) - 1));
    if (list) list.count += 1;
    this.#mark(`${indent}${list?.isOrdered ? `${list.count}.` : "-"} `);
    return () => this.#break(1);
  }

  #preformatted(attributes: Record<string, string>): () => void {
    const language = /\blang(?:uage)?-([\w+#-]+)/.exec(attributes["class"] ?? "")?.[1] ?? "";
    this.#break(2);
    this.#mark(`\`\`\`${language}\n`);
    this.#pre += 1;
    return () => {
      this.#pre -= 1;
      const isEnded = this.#out.at(-1)?.endsWith("\n");
      this.#out.push(isEnded ? "```" : "\n```");
      this.#break(2);
    };
  }

  #link(href: string | undefined): (() => void) | undefined {
    const target =
      href !== undefined && URL.canParse(href, this.#base.href) ? new URL(href, this.#base.href) : undefined;
    const isUseful = target && ["http:", "https:"].includes(target.protocol) && !href?.startsWith("#");
    return isUseful ? this.#pair("[", `](${target.href})`) : undefined;
  }

  /** Writes marks around text; removes them if there is no text between them. */
  #pair(before: string, after: string): () => void {
    this.#mark(before);
    const at = this.#out.length - 1;
    const texts = this.#texts;
    return () => {
      if (this.#texts === texts) this.#out[at] = "";
      else this.#out.push(after);
    };
  }

  /** Puts at least this many line breaks before the next text. */
  #break(lines: number): void {
    if (this.#pre > 0) return;
    // A cell of a table has no line breaks.
    if (this.#inCells > 0) this.#isSpaced = true;
    else this.#breaks = Math.max(this.#breaks, lines);
  }

  #write(text: string): void {
    this.#mark(text);
    this.#texts += 1;
  }

  #mark(text: string): void {
    if (this.#breaks > 0) {
      if (this.#out.length > 0) this.#out.push("\n".repeat(this.#breaks));
      if (this.#quotes > 0) this.#out.push("> ".repeat(Math.min(this.#quotes, MAX_INDENT)));
    } else if (this.#isSpaced && !(this.#out.at(-1) ?? " ").endsWith(" ")) this.#out.push(" ");
    this.#breaks = 0;
    this.#isSpaced = false;
    this.#out.push(text);
  }
}

/** The number of characters that are parsed before the event loop turns. */
const SLICE_CHARS = 16_384;
/** The shortest text that counts as a page's content. */
const MIN_CONTENT_CHARS = 200;

/** Converts a page to Markdown: its content without navigation and the like, or the whole page if that leaves little. */
export async function toMarkdown(html: string, base: URL): Promise<{ title: string; text: string }> {
  const page = await convert(html, new MarkdownWriter(base, { isBare: false }));
  if (page.text.length >= MIN_CONTENT_CHARS) return page;
  const all = await convert(html, new MarkdownWriter(base, { isBare: true }));
  return all.text.length > page.text.length * 2 ? all : page;
}

async function convert(html: string, writer: MarkdownWriter): Promise<{ title: string; text: string }> {
  const { Parser: HtmlParser } = await import("htmlparser2");
  const parser: Parser = new HtmlParser(writer, { decodeEntities: true });
  for (let at = 0; at < html.length && !writer.isTooDeep; at += SLICE_CHARS) {
    parser.write(html.slice(at, at + SLICE_CHARS));
    await turn();
  }
  parser.end();
  return writer.page();
}
