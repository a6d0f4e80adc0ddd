import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseInline, parseMarkdown } from "./markdown.ts";

const text = (words: string) => ({ type: "text", text: words });

describe("a model's Markdown", () => {
  it("is read as paragraphs, headings, lists, code, quotes, tables and rules", () => {
    const source =
      "# Title\n\nOne\ntwo\n\n- a\n  - b\n- c\n\n3. x\n\n```ts\nconst a = `1`;\n```\n> said\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n---";
    expect(parseMarkdown(source)).toEqual([
      { type: "heading", level: 1, children: [text("Title")] },
      { type: "paragraph", lines: [[text("One")], [text("two")]] },
      {
        type: "list",
        isOrdered: false,
        start: 1,
        items: [
          [
            { type: "paragraph", lines: [[text("a")]] },
            {
              type: "list",
              isOrdered: false,
              start: 1,
              items: [[{ type: "paragraph", lines: [[text("b")]] }]],
            },
          ],
          [{ type: "paragraph", lines: [[text("c")]] }],
        ],
      },
      { type: "list", isOrdered: true, start: 3, items: [[{ type: "paragraph", lines: [[text("x")]] }]] },
      { type: "code", language: "ts", text: "const a = `1`;" },
      { type: "quote", blocks: [{ type: "paragraph", lines: [[text("said")]] }] },
      { type: "table", head: [[text("a")], [text("b")]], rows: [[[text("1")], [text("2")]]] },
      { type: "rule" },
    ]);
  });

  it("has strong, emphasised and literal words, and links", () => {
    expect(parseInline("a **b *c*** `d` [e](https://x.org/f) https://y.org.")).toEqual([
      text("a "),
      { type: "strong", children: [text("b *c")] },
      text("* "),
      { type: "code", text: "d" },
      text(" "),
      { type: "link", href: "https://x.org/f", children: [text("e")] },
      text(" "),
      { type: "link", href: "https://y.org/", children: [text("https://y.org")] },
      text("."),
    ]);
    expect(parseInline("a_b_c and 2 * 3 * 4")).toEqual([text("a_b_c and 2 * 3 * 4")]);
  });

  it("links to http and https only, and shows images and HTML as text", () => {
    for (const source of [
      "[x](javascript:alert(1))",
      "[x](data:text/html,<script>)",
      "[x](file:///etc/passwd)",
      "![x](https://evil.org/pixel.png)",
      "<img src=x onerror=alert(1)>",
    ]) {
      const pieces = parseInline(source);
      expect(pieces.filter(({ type }) => type === "link").length, source).toBe(
        source.startsWith("!") ? 1 : 0,
      );
    }
    // The address of an image is a link that somebody may follow; nothing is loaded.
    expect(parseInline("![x](https://evil.org/pixel.png)")[0]).toEqual(text("![x]("));
  });

  it("keeps an unclosed code block to its end", () => {
    expect(parseMarkdown("```\na\n\nb")).toEqual([{ type: "code", language: "", text: "a\n\nb" }]);
  });

  it("loses no word, for any text", () => {
    fc.assert(
      fc.property(
        fc.string({
          unit: fc.constantFrom("Z", "*", "_", "`", "[", "]", "(", ")", "|", "-", ">", "#", " ", "\n", "1."),
        }),
        (source) => {
          const shown = JSON.stringify(parseMarkdown(source));
          expect(shown.split("Z").length).toBe(source.split("Z").length);
        },
      ),
    );
  });

  it("is parsed to its end when a text is made to be slow", () => {
    for (const unit of ["`", "*", "**a", "_", "[", "[a](", "> ", "- ", "|", "  - a\n", "https://"]) {
      expect(parseMarkdown(unit.repeat(20_000))).toBeDefined();
    }
  });
});
