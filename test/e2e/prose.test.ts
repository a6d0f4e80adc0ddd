import { readdirSync, readFileSync } from "node:fs";
import { parseSync, Visitor } from "oxc-parser";
import { describe, expect, it } from "vitest";

/** More words than this in a sentence have to be read twice. */
const LIMIT = 40;

const pages = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", ...documents()];

it.each(pages)("%s has no sentence of more than 40 words", (page) => {
  const long = sentencesOf(page).filter(({ text }) => text.split(/\s+/).length > LIMIT);
  expect(long.map(({ line, text }) => `${page}:${line} ${text}`)).toEqual([]);
});

it.each(pages)("%s names the subject of each sentence first", (page) => {
  const riddles = sentencesOf(page).filter(({ text }) =>
    /^(?:What|Who|Of|Whatever|Whoever)\b.*[^?]$/.test(text),
  );
  expect(riddles.map(({ line, text }) => `${page}:${line} ${text}`)).toEqual([]);
});

/** Words that a colleague would not say aloud, with the ones to use. */
const ODD_WORDS: readonly (readonly [RegExp, string])[] = [
  [/\bmend(?:s|ed|ing)?\b/i, "fix"],
  [/\banew\b/i, "again"],
  [/\btill\b/i, "until"],
  [/\bgo(?:es|ing|ne)? on\b(?! (?:the|a|to)\b)|\bwent on\b/i, "continue, resume"],
  [/\bin front of\b/i, "before"],
  [/\bbeside\b/i, "with, next to"],
  [/\b(?:is|are|was|were|be|been) told\b/i, "is notified; Holdfast says"],
  [/\btaken for\b/i, "treated as"],
  [/\bfor good\b/i, "permanently"],
  [/\bheard of\b/i, "detected"],
  [/\b(?:who|what)ever\b/i, "anyone who, anything that"],
  [/\b(?:some|no|any)body\b/i, "the user, the agent, no one"],
  [/\b(?:a|the) persons?\b/i, "a user"],
  [/\bsent back\b/i, "returned to the model"],
  [/\bunder way\b/i, "interrupted, running"],
  [/\bbegun\b/i, "started"],
];

/** What is odd in a text; empty if nothing is. */
function oddWords(text: string): string {
  return ODD_WORDS.flatMap(([pattern, better]) => {
    const found = pattern.exec(text);
    return found ? [`“${found[0]}” (${better})`] : [];
  }).join(", ");
}

it.each(pages)("%s uses words that a colleague would say", (page) => {
  const odd = sentencesOf(page).filter(({ text }) => oddWords(text) !== "");
  expect(odd.map(({ line, text }) => `${page}:${line} ${oddWords(text)}: ${text}`)).toEqual([]);
});

const LONGEST_TITLE = 80;
const sources = ["src", "web", "test", "packages", "attack"].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((path) => `${folder}/${path.replaceAll("\\", "/")}`)
    .filter((path) => /\.(?:ts|tsx|mjs)$/.test(path) && !/node_modules|\/dist\/|\.d\.m?ts$/.test(path)),
);
const isTest = (path: string): boolean => /\.test(?:-d)?\.tsx?$/.test(path) || path.startsWith("test/");

describe("test titles", () => {
  const titles = sources.filter(isTest).flatMap((path) => titlesIn(path));

  it("are found", () => {
    expect(titles.length).toBeGreaterThan(2000);
  });

  it("have at most 80 characters", () => {
    const long = titles.filter(({ text }) => text.length > LONGEST_TITLE);
    expect(long.map(({ at, text }) => `${at} ${text}`)).toEqual([]);
  });

  it("use words that a colleague would say", () => {
    // A name in a table of cases is no word.
    const odd = titles.filter(({ text }) => oddWords(text.replaceAll(/\$\w+/g, "")) !== "");
    expect(odd.map(({ at, text }) => `${at} ${oddWords(text)}: ${text}`)).toEqual([]);
  });

  it("make sense alone in a report", () => {
    const riddles = titles.filter(({ text }) =>
      /^(?:what|who|of|those|that|nor|one|it)\b|\bone's own\b/i.test(text),
    );
    expect(riddles.map(({ at, text }) => `${at} ${text}`)).toEqual([]);
  });
});

/** A program in a model's place plays a shop whose till has an error. */
const SHOP = /^src\/models\/offline\//;

it("messages, help, and the texts of the page use words that a colleague would say", () => {
  const texts = sources.filter((path) => !isTest(path) && !SHOP.test(path)).flatMap((path) => textsIn(path));
  expect(texts.length).toBeGreaterThan(2000);
  const odd = texts.filter(({ text }) => oddWords(text) !== "");
  expect(odd.map(({ at, text }) => `${at} ${oddWords(text)}: ${text}`)).toEqual([]);
});

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

interface Found {
  at: string;
  text: string;
}

/** The first arguments of `it`, `test`, and `describe`, in any of their forms. */
function titlesIn(path: string): Found[] {
  const source = readFileSync(path, "utf8");
  const { program } = parseSync(path, source);
  const found: Found[] = [];
  new Visitor({
    CallExpression({ callee, arguments: [first] }) {
      const text = first && textOf(first);
      if (text !== undefined && /^(?:it|test|describe)\b/.test(source.slice(callee.start, callee.end)))
        found.push({ at: placeOf(path, source, first!.start), text });
    },
  }).visit(program);
  return found;
}

const SQL = /\b(?:SELECT|WHERE|CREATE|ALTER|UPDATE|INSERT)\b/;

/** The texts of several words in a file: strings, templates, and the page's own text. */
function textsIn(path: string): Found[] {
  const source = readFileSync(path, "utf8");
  const { program } = parseSync(path, source);
  const found: Found[] = [];
  const add = (start: number, text: string): void => {
    if (/[a-z] [a-z]/i.test(text) && !SQL.test(text)) found.push({ at: placeOf(path, source, start), text });
  };
  new Visitor({
    Literal({ value, start }) {
      if (typeof value === "string") add(start, value);
    },
    TemplateLiteral({ quasis, start }) {
      add(start, quasis.map(({ value }) => value.cooked ?? "").join("…"));
    },
    JSXText({ value, start }) {
      add(start, value.replaceAll(/\s+/g, " "));
    },
  }).visit(program);
  return found;
}

function textOf(node: { type: string }): string | undefined {
  if (node.type === "Literal") {
    const { value } = node as unknown as { value: unknown };
    return typeof value === "string" ? value : undefined;
  }
  if (node.type !== "TemplateLiteral") return undefined;
  const { quasis } = node as unknown as { quasis: { value: { cooked?: string } }[] };
  return quasis.map(({ value }) => value.cooked ?? "").join("…");
}

function placeOf(path: string, source: string, start: number): string {
  return `${path}:${source.slice(0, start).split("\n").length}`;
}
