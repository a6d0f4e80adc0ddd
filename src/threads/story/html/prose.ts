import { escaped } from "./escaped.ts";
import { parseMarkdown, type Block, type Inline } from "./markdown.ts";

/** A model's words as the page draws them. All tags are ours: what they hold is escaped. */
export function proseHtml(text: string): string {
  return `<div class="prose">${blocksHtml(parseMarkdown(text))}</div>`;
}

function blocksHtml(blocks: readonly Block[]): string {
  return blocks.map(blockHtml).join("");
}

function blockHtml(block: Block): string {
  switch (block.type) {
    case "paragraph":
      return `<p>${block.lines.map(wordsHtml).join("<br>")}</p>`;
    case "heading":
      // The file has headings of its own: a model's are strong lines among them.
      return `<p class="heading">${wordsHtml(block.children)}</p>`;
    case "code":
      return `<pre><code>${escaped(block.text)}</code></pre>`;
    case "list": {
      const items = block.items.map((item) => `<li>${blocksHtml(item)}</li>`).join("");
      return block.isOrdered ? `<ol start="${block.start}">${items}</ol>` : `<ul>${items}</ul>`;
    }
    case "quote":
      return `<blockquote>${blocksHtml(block.blocks)}</blockquote>`;
    case "table": {
      const head = block.head.map((cell) => `<th scope="col">${wordsHtml(cell)}</th>`).join("");
      const rows = block.rows.map(
        (row) => `<tr>${row.map((cell) => `<td>${wordsHtml(cell)}</td>`).join("")}</tr>`,
      );
      return `<table><thead><tr>${head}</tr></thead><tbody>${rows.join("")}</tbody></table>`;
    }
    case "rule":
      return "<hr>";
  }
}

function wordsHtml(pieces: readonly Inline[]): string {
  return pieces.map(pieceHtml).join("");
}

function pieceHtml(piece: Inline): string {
  switch (piece.type) {
    case "text":
      return escaped(piece.text);
    case "code":
      return `<code>${escaped(piece.text)}</code>`;
    case "strong":
      return `<strong>${wordsHtml(piece.children)}</strong>`;
    case "emphasis":
      return `<em>${wordsHtml(piece.children)}</em>`;
    case "link":
      return `<a href="${escaped(piece.href)}" rel="noopener noreferrer">${wordsHtml(piece.children)}</a>`;
  }
}
