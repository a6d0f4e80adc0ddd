import xterm from "@xterm/headless";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { changeOf } from "./changed-cells.ts";
import { coloured, harmless, joined, shown, type Harmless, type Style } from "./harmless.ts";

const STYLES: Style[] = ["red", "dim", "bold", ["bold", "underline"]];
const piece = fc
  .tuple(fc.constantFrom("a", "b c", "漢字", "⠋", "é", "👩‍💻", ""), fc.constantFrom(undefined, ...STYLES))
  .map(([text, style]) => (style === undefined ? harmless(text) : coloured(style, harmless(text))));
const row = fc.array(piece, { maxLength: 6 }).map((pieces) => joined(pieces, ""));

const screen = new xterm.Terminal({ cols: 60, rows: 1, allowProposedApi: true });

/** The cells of a screen after something was written to it, with their colours. */
async function cells(text: string): Promise<string[]> {
  screen.reset();
  await new Promise<void>((resolve) => screen.write(text, resolve));
  const line = screen.buffer.active.getLine(0)!;
  return Array.from({ length: 60 }, (_, at) => {
    const cell = line.getCell(at)!;
    return `${cell.getChars().trim()} ${cell.getFgColor()} ${cell.isBold()} ${cell.isDim()} ${cell.isUnderline()}`;
  });
}

function written(was: Harmless, line: Harmless): Harmless {
  const { column, text, clears } = changeOf(was, line);
  return shown`\u001B[${column + 1}G${text}${clears ? shown`\u001B[K` : shown``}`;
}

it("a changed row looks as if it had been drawn as a whole", async () => {
  await fc.assert(
    fc.asyncProperty(row, row, async (was, line) => {
      const changed = `${was}\u001B[m${written(was, line)}`;
      expect(await cells(changed)).toEqual(await cells(line));
    }),
    { numRuns: 200 },
  );
});

it("writes no more than the cells that differ", () => {
  expect(changeOf(shown`one two`, shown`one two three`)).toMatchObject({ column: 7, text: " three" });
  expect(changeOf(shown`item 3 ⠋ 0:01`, shown`item 3 ⠙ 0:01`)).toMatchObject({
    column: 7,
    text: "⠙",
    end: 8,
  });
  expect(changeOf(shown`longer`, shown`long`)).toEqual({ column: 4, text: "", end: 4, clears: true });
});

it("the screen does not rely on the width of a cell made of several characters", () => {
  expect(changeOf(shown`a👩‍💻 one`, shown`a👩‍💻 two`)).toMatchObject({ column: 1, text: "👩‍💻 two" });
});
