import { parseMarkdown, type Block, type Inline } from "./markdown.ts";

type Attributes = Readonly<Record<string, string | number>>;

/** Creates an element. Attributes have their React names. */
export type MakeElement<Element> = (
  tag: string,
  attributes: Attributes,
  ...content: (Element | string)[]
) => Element;

/** A model's Markdown as elements, for the page and the export. All tags are ours, and their content is text. */
export function prose<Element>(source: string, make: MakeElement<Element>): Element {
  const wordsOf = (pieces: readonly Inline[]): (Element | string)[] => pieces.map(pieceOf);
  const pieceOf = (piece: Inline): Element | string => {
    switch (piece.type) {
      case "text":
        return piece.text;
      case "code":
        return make("code", {}, piece.text);
      case "strong":
        return make("strong", {}, ...wordsOf(piece.children));
      case "emphasis":
        return make("em", {}, ...wordsOf(piece.children));
      case "link": {
        const { href } = piece;
        const attributes = { href, target: "_blank", rel: "noopener noreferrer", title: href };
        return make("a", attributes, ...wordsOf(piece.children));
      }
    }
  };
  const rowOf = (tag: "th" | "td", cells: readonly Inline[][], attributes: Attributes = {}): Element =>
    make("tr", {}, ...cells.map((cell) => make(tag, attributes, ...wordsOf(cell))));
  const blockOf = (block: Block): Element => {
    switch (block.type) {
      case "paragraph": {
        const lines = block.lines.flatMap((line, at) => [
          ...(at > 0 ? [make("br", {})] : []),
          ...wordsOf(line),
        ]);
        return make("p", {}, ...lines);
      }
      case "heading":
        // Not a heading element: those are the page's own.
        return make(
          "p",
          { className: `heading heading-${Math.min(3, block.level)}` },
          ...wordsOf(block.children),
        );
      case "code":
        return make("pre", { tabIndex: 0 }, make("code", {}, block.text));
      case "list": {
        const items = block.items.map((item) => make("li", {}, ...item.map(blockOf)));
        return block.isOrdered ? make("ol", { start: block.start }, ...items) : make("ul", {}, ...items);
      }
      case "quote":
        return make("blockquote", {}, ...block.blocks.map(blockOf));
      case "table": {
        const head = make("thead", {}, rowOf("th", block.head, { scope: "col" }));
        const body = make("tbody", {}, ...block.rows.map((cells) => rowOf("td", cells)));
        return make("div", { className: "table", tabIndex: 0 }, make("table", {}, head, body));
      }
      case "rule":
        return make("hr", {});
    }
  };
  return make("div", { className: "prose" }, ...parseMarkdown(source).map(blockOf));
}
