import { stripVTControlCharacters } from "node:util";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { colourPaint, plainPaint } from "../output/paint.ts";
import { MarkdownStream } from "./markdown-stream.ts";
import { markdownRows } from "./markdown.ts";

const options = { columns: 40, paint: plainPaint };

const SAMPLE = `# The title

A paragraph with **bold**, *soft*, \`code\` and a [link](https://example.com/a) that is long enough to be broken.

1. first
2. second
   - nested
3. third

- [ ] open
- [x] closed

| name | size |
|---|---|
| a.ts | 12 |
| b.ts | 7 |

\`\`\`ts
const a = 1;

function b() {}
\`\`\`

> quoted *words*

---

Last words.`;

describe("Markdown on a terminal", () => {
  it("shows headings, lists, tables, code and quotes without their marks", () => {
    expect(markdownRows(SAMPLE, options)).toMatchInlineSnapshot(`
      [
        "The title",
        "",
        "A paragraph with bold, soft, code and a",
        "link (https://example.com/a) that is",
        "long enough to be broken.",
        "",
        "1. first",
        "2. second",
        "   • nested",
        "3. third",
        "",
        "[ ] open",
        "[x] closed",
        "",
        "name  size",
        "────  ────",
        "a.ts  12",
        "b.ts  7",
        "",
        "const a = 1;",
        "",
        "function b() {}",
        "",
        "│ quoted words",
        "",
        "────────────────────────────────────────",
        "",
        "Last words.",
      ]
    `);
  });

  it("colors marked text", () => {
    expect(markdownRows("a **b** `c`", { columns: 40, paint: colourPaint })).toEqual([
      "a \u001B[1mb\u001B[22m \u001B[36mc\u001B[39m",
    ]);
  });

  it("keeps code as it is, to be copied", () => {
    expect(markdownRows("```\n  two  spaces\n\tand a tab\n```", options)).toEqual([
      "  two  spaces",
      "    and a tab",
    ]);
  });

  it("lists the cells of a table that is too wide for the terminal", () => {
    const wide = `| name | what |\n|---|---|\n| a | ${"word ".repeat(12)}|`;
    expect(markdownRows(wide, { ...options, columns: 20 })[0]).toBe("name: a");
  });

  it("does not let text steer the terminal", () => {
    const rows = markdownRows("# \u001B[2Jx\n\n`\u001B]0;y\u0007`\n\n[a](http://x/\u001B[1m)", options);
    expect(rows.join("\n")).not.toContain("\u001B");
  });
});

describe("Markdown that arrives in parts", () => {
  it("ends up like the whole text, for any sizes of the parts", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 40 }), (sizes) => {
        expect(streamed(SAMPLE, sizes).final).toEqual(markdownRows(SAMPLE, options));
      }),
      { numRuns: 60 },
    );
  });

  it("gives out lines of code and items of lists as soon as they are whole", () => {
    const stream = new MarkdownStream();
    expect(stream.write("```ts\nconst a = 1;\nconst b", options)).toEqual(["const a = 1;"]);
    expect(stream.tail(options)).toEqual(["const b"]);
    expect(stream.write(" = 2;\n```\n\n- one\n- tw", options)).toEqual(["const b = 2;", "", "• one"]);
    expect(stream.tail(options)).toEqual(["• tw"]);
    expect(stream.end(options)).toEqual(["• tw"]);
  });

  it("holds a paragraph back until it is whole: a mark may still change it", () => {
    const stream = new MarkdownStream();
    const words = "word ".repeat(20);
    expect(stream.write(`**${words}`, options)).toEqual([]);
    expect(stream.write(`end** ${words}`, options)).toEqual([]);
    expect(stream.tail(options)[0]).toMatch(/^word word/);
    expect(stream.write("\n\nNext", options)[0]).toMatch(/^word word/);
  });

  it("shows a paragraph as a heading where it turns out to be one", () => {
    const text = "one\ntwo\n---\n\nthree";
    expect(streamed(text, [1]).final).toEqual(markdownRows(text, options));
  });

  it("loses no letter of any text", () => {
    const marks = fc.constantFrom("*", "**", "`", "_", "[", "](", ")", "\n", "\n\n", "- ", "| ", "a", "bc ");
    fc.assert(
      fc.property(fc.array(marks, { maxLength: 60 }), (parts) => {
        const text = parts.join("");
        const letters = (rows: readonly string[]): string =>
          stripVTControlCharacters(rows.join("")).replaceAll(/[^abc]/g, "");
        const { final } = streamed(text, [1]);
        expect(letters(final)).toBe(letters(markdownRows(text, options)));
      }),
      { numRuns: 300 },
    );
  });
});

function streamed(text: string, sizes: readonly number[]): { final: string[] } {
  const stream = new MarkdownStream();
  const final: string[] = [];
  for (let [at, turn] = [0, 0]; at < text.length; turn++) {
    const size = sizes[turn % sizes.length]!;
    final.push(...stream.write(text.slice(at, at + size), options));
    stream.tail(options);
    at += size;
  }
  return { final: [...final, ...stream.end(options)] };
}
