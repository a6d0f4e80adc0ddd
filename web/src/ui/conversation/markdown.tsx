import { memo } from "react";
import { parseMarkdown, type Block, type Inline } from "../../../../src/threads/story/html/markdown.ts";

/** A model's words as nodes. Nothing in them is ever read as HTML. */
export const Markdown = memo(({ text }: { text: string }) => (
  <div className="prose">
    <Blocks blocks={parseMarkdown(text)} />
  </div>
));

function Blocks({ blocks }: { blocks: readonly Block[] }) {
  return (
    <>
      {blocks.map((block, index) => (
        <BlockNode key={index} block={block} />
      ))}
    </>
  );
}

function BlockNode({ block }: { block: Block }) {
  switch (block.type) {
    case "paragraph":
      return (
        <p>
          {block.lines.map((line, index) => (
            <span key={index}>
              {index > 0 && <br />}
              <Words pieces={line} />
            </span>
          ))}
        </p>
      );
    case "heading":
      // The page has headings of its own: a model's are strong lines among them.
      return (
        <p className={`heading heading-${Math.min(3, block.level)}`}>
          <Words pieces={block.children} />
        </p>
      );
    case "code":
      return (
        <pre tabIndex={0}>
          <code>{block.text}</code>
        </pre>
      );
    case "list": {
      const items = block.items.map((item, index) => (
        <li key={index}>
          <Blocks blocks={item} />
        </li>
      ));
      return block.isOrdered ? <ol start={block.start}>{items}</ol> : <ul>{items}</ul>;
    }
    case "quote":
      return (
        <blockquote>
          <Blocks blocks={block.blocks} />
        </blockquote>
      );
    case "table":
      return <Table head={block.head} rows={block.rows} />;
    case "rule":
      return <hr />;
  }
}

function Table({ head, rows }: { head: Inline[][]; rows: Inline[][][] }) {
  return (
    <div className="table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {head.map((cell, index) => (
              <th key={index} scope="col">
                <Words pieces={cell} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, at) => (
                <td key={at}>
                  <Words pieces={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Words({ pieces }: { pieces: readonly Inline[] }) {
  return (
    <>
      {pieces.map((piece, index) => (
        <Piece key={index} piece={piece} />
      ))}
    </>
  );
}

function Piece({ piece }: { piece: Inline }) {
  switch (piece.type) {
    case "text":
      return <>{piece.text}</>;
    case "code":
      return <code>{piece.text}</code>;
    case "strong":
      return (
        <strong>
          <Words pieces={piece.children} />
        </strong>
      );
    case "emphasis":
      return (
        <em>
          <Words pieces={piece.children} />
        </em>
      );
    case "link":
      return (
        <a href={piece.href} target="_blank" rel="noopener noreferrer" title={piece.href}>
          <Words pieces={piece.children} />
        </a>
      );
  }
}
