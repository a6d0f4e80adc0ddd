import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

/** More words than this in a sentence have to be read twice. */
const LIMIT = 40;

const pages = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", ...documents()];

it.each(pages)("%s has no sentence of more than 40 words", (page) => {
  const long = sentencesOf(page).filter(({ text }) => text.split(/\s+/).length > LIMIT);
  expect(long.map(({ line, text }) => `${page}:${line} ${text}`)).toEqual([]);
});

// Decisions were written once, and are read less often.
it.each(pages.filter((page) => !page.startsWith("docs/decisions")))(
  "%s names the subject of each sentence first",
  (page) => {
    const riddles = sentencesOf(page).filter(({ text }) =>
      /^(?:What|Who|Of|Whatever|Whoever)\b.*[^?]$/.test(text),
    );
    expect(riddles.map(({ line, text }) => `${page}:${line} ${text}`)).toEqual([]);
  },
);

it("sentences are split where a reader would", () => {
  const split = (text: string) => [...sentences(text)].map((sentence) => sentence.text);
  expect(split("One. `two` is [next](to.md#e.g. here). (Three!) 4.5 is a number, e.g. this.")).toEqual([
    "One.",
    "code is next.",
    "(Three!)",
    "4.5 is a number, e.g. this.",
  ]);
  expect(split("- First\n- Second\n  goes on\n\n| a | table |\n\n```\ncode. Here.\n```\n# Head")).toEqual([
    "First",
    "Second goes on",
  ]);
  expect(split("[One](1.md) · [two](2.md)")).toEqual(["One", "two"]);
});

function documents(): string[] {
  const paths = readdirSync("docs", { recursive: true, encoding: "utf8" });
  return paths.filter((path) => path.endsWith(".md")).map((path) => `docs/${path}`);
}

function sentencesOf(page: string) {
  const text = readFileSync(page, "utf8");
  // The newest release; earlier ones stay as they were published.
  const read = page === "CHANGELOG.md" ? text.split(/^## /m, 2).join("## ") : text;
  return [...sentences(read)];
}

/**
 * Splits a page into sentences. A paragraph ends at an empty line, a list item is its own paragraph, and so is an
 * entry of a list on one line (` · `). A sentence ends with `.`, `!` or `?` in front of a space and a capital, a
 * digit or code. A span of code is one word. Code blocks, tables, headings, pictures and HTML have no sentences.
 */
function* sentences(page: string): Generator<{ line: number; text: string }> {
  for (const { line, text } of paragraphs(page)) {
    const plain = text
      .replaceAll(/`[^`]+`/g, "code")
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .replaceAll("**", "");
    for (const sentence of plain.split(/(?<=[.!?][)"]?)\s+(?=[("]?(?:[\p{Lu}\d]|code))| · /u)) {
      yield { line, text: sentence };
    }
  }
}

function* paragraphs(page: string): Generator<{ line: number; text: string }> {
  let open: { line: number; text: string } | undefined;
  let isCode = false;
  for (const [index, line] of page.split("\n").entries()) {
    const isFence = line.trimStart().startsWith("```");
    const isProse = !isCode && !isFence && !/^\s*(?:$|[|#<]|!\[|---)/.test(line);
    const isItem = /^\s*(?:[-*]|\d+\.) /.test(line);
    if (isFence) isCode = !isCode;
    if (open && (!isProse || isItem)) {
      yield open;
      open = undefined;
    }
    const words = line.trim().replace(/^(?:[-*]|\d+\.) /, "");
    if (isProse) open = open ? { ...open, text: `${open.text} ${words}` } : { line: index + 1, text: words };
  }
  if (open) yield open;
}
