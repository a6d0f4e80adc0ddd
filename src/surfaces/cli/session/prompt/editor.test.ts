import * as fc from "fast-check";
import stringWidth from "string-width";
import { describe, expect, it } from "vitest";
import { shown } from "../../output/harmless.ts";
import { plainPaint } from "../../output/paint.ts";
import { KeyDecoder, type Key } from "./keys.ts";
import { draftOf, edited, EMPTY_DRAFT, fullText, movedLine, type Draft } from "./line-editor.ts";
import { promptLines } from "./prompt-lines.ts";

const key = (name: string): Key => ({ type: "key", name });
const text = (words: string): Key => ({ type: "text", text: words });
const paste = (words: string): Key => ({ type: "paste", text: words });
const typed = (keys: readonly Key[], start: Draft = EMPTY_DRAFT): Draft =>
  keys.reduce((draft, one) => edited(draft, one) ?? draft, start);

describe("keys", () => {
  it.each([
    ["abc", [text("abc")]],
    ["\r", [key("enter")]],
    ["\u0003", [key("ctrl-c")]],
    ["\u001B[A", [key("up")]],
    ["\u001B[1;5C", [key("ctrl-right")]],
    ["\u001B[Z", [key("shift-tab")]],
    ["\u001B[13;2u", [key("shift-enter")]],
    ["\u001B[27;2;13~", [key("shift-enter")]],
    ["\u001B\r", [key("alt-enter")]],
    ["\u001Bb", [key("alt-b")]],
    ["\u001B[3~", [key("delete")]],
    ["\u001BOH", [key("home")]],
    ["\u001B[200~a\r\nb\u001B[201~c", [paste("a\nb"), text("c")]],
  ])("%j is %j, in one piece and byte by byte", (input, keys) => {
    expect(new KeyDecoder().keys(input)).toEqual(keys);
    const decoder = new KeyDecoder();
    const one = [...Buffer.from(input)].flatMap((byte) => decoder.keys(Buffer.from([byte])));
    expect(joinedText(one)).toEqual(joinedText(keys));
  });

  it("an escape alone is a key when nothing follows", () => {
    const decoder = new KeyDecoder();
    expect(decoder.keys("\u001B")).toEqual([]);
    expect(decoder.isWaiting).toBe(true);
    expect(decoder.flush()).toEqual([key("escape")]);
  });

  it("reads characters of several bytes that come in pieces", () => {
    const decoder = new KeyDecoder();
    const keys = [...Buffer.from("漢👩‍💻")].flatMap((byte) => decoder.keys(Buffer.from([byte])));
    expect(joinedText(keys)).toEqual([text("漢👩‍💻")]);
  });
});

function joinedText(keys: readonly Key[]): Key[] {
  const list: Key[] = [];
  for (const one of keys) {
    const last = list.at(-1);
    if (one.type === "text" && last?.type === "text") list[list.length - 1] = text(last.text + one.text);
    else list.push(one);
  }
  return list;
}

describe("the line editor", () => {
  it("removes characters as the user sees them", () => {
    expect(typed([key("backspace")], draftOf("a👩‍💻")).text).toBe("a");
    expect(typed([key("left"), key("delete")], draftOf("né")).text).toBe("n");
    expect(typed([key("left"), text("x")], draftOf("漢字")).text).toBe("漢x字");
  });

  it("moves and cuts by words and lines, and pastes the cut text", () => {
    const draft = draftOf("one two\nthree four");
    expect(typed([key("ctrl-w")], draft).text).toBe("one two\nthree ");
    expect(typed([key("ctrl-u")], draft).text).toBe("one two\n");
    expect(typed([key("ctrl-u"), key("ctrl-y")], draft).text).toBe(draft.text);
    expect(typed([key("alt-b"), text("x")], draft).text).toBe("one two\nthree xfour");
    expect(typed([key("home"), key("ctrl-k")], draft).text).toBe("one two\n");
  });

  it("moves up and down within a text of several lines, and stops at its ends", () => {
    const draft = draftOf("漢字 one\ntwo");
    const up = movedLine(draft, -1)!;
    expect(up.cursor).toBe(3);
    expect(movedLine(up, -1)).toBeUndefined();
    expect(movedLine(up, 1)?.cursor).toBe(draft.text.length);
  });

  it("shows a long paste as a short label, and sends all of it", () => {
    const long = Array.from({ length: 5000 }, (_, at) => `line ${at}`).join("\n");
    const draft = typed([text("See "), paste(long), text(" please")]);
    expect(draft.text).toBe("See [pasted #1: 5,000 lines] please");
    expect(fullText(draft)).toBe(`See ${long} please`);
    expect(typed([key("backspace")], typed([text("See "), paste(long)])).text).toBe("See ");
  });

  it("keeps the cursor between characters for any input", () => {
    const names = [
      "left",
      "right",
      "backspace",
      "delete",
      "ctrl-w",
      "alt-b",
      "alt-f",
      "home",
      "end",
      "ctrl-k",
      "ctrl-y",
    ];
    const keys = fc.oneof(
      fc.constantFrom(...names).map(key),
      fc.constantFrom("a", "漢", "👩‍💻", "\u0301", " ", "\n", "\t").map(text),
    );
    fc.assert(
      fc.property(fc.array(keys, { maxLength: 60 }), (list) => {
        const { text: words, cursor } = typed(list);
        expect(cursor).toBeGreaterThanOrEqual(0);
        expect(cursor).toBeLessThanOrEqual(words.length);
        expect(words.isWellFormed()).toBe(true);
      }),
    );
  });
});

describe("the prompt", () => {
  const options = { columns: 12, rows: 4, paint: plainPaint, hint: shown`hint` };

  it("breaks at the width, and has the cursor where it is in the text", () => {
    expect(promptLines(draftOf("abcdefghijkl"), options)).toEqual({
      lines: ["> abcdefghi", "  jkl"],
      cursor: { row: 1, column: 5 },
    });
    expect(promptLines({ text: "漢字かな", cursor: 1 }, options)).toMatchObject({
      cursor: { row: 0, column: 4 },
    });
  });

  it("shows the rows around the cursor of what has too many", () => {
    const { lines, cursor } = promptLines(draftOf("a\nb\nc\nd\ne\nf"), options);
    expect(lines).toEqual(["  c", "  d", "  e", "  f"]);
    expect(cursor).toEqual({ row: 3, column: 3 });
  });

  it("fits its space with any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 80 }), (words) => {
        const { lines, cursor } = promptLines(draftOf(words), options);
        expect(lines.length).toBeLessThanOrEqual(4);
        expect(Math.max(...lines.map((line) => stringWidth(line)))).toBeLessThan(12);
        expect(cursor.row).toBeLessThan(lines.length);
      }),
    );
  });
});
