import { setImmediate as turn } from "node:timers/promises";
import type { Parser } from "htmlparser2";
import { MarkdownWriter } from "./markdown-writer.ts";

/** Others get their turn after so many characters. */
const STRETCH = 16_384;
/** The shortest text that counts as a page's content. */
const SHORTEST = 200;

/** A page as Markdown: its content without what surrounds it, or all of it where that leaves next to nothing. */
export async function toMarkdown(html: string, base: URL): Promise<{ title: string; text: string }> {
  const page = await written(html, new MarkdownWriter(base, { isBare: false }));
  if (page.text.length >= SHORTEST) return page;
  const all = await written(html, new MarkdownWriter(base, { isBare: true }));
  return all.text.length > page.text.length * 2 ? all : page;
}

async function written(html: string, writer: MarkdownWriter): Promise<{ title: string; text: string }> {
  const { Parser: HtmlParser } = await import("htmlparser2");
  const parser: Parser = new HtmlParser(writer, { decodeEntities: true });
  for (let at = 0; at < html.length && !writer.isTooDeep; at += STRETCH) {
    parser.write(html.slice(at, at + STRETCH));
    await turn();
  }
  parser.end();
  return writer.page();
}
