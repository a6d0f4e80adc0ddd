import { array, assert, integer, property } from "fast-check";
import { describe, expect, it } from "vitest";
import { thoughtFilter, withoutThoughts } from "./thoughts.ts";

const FENCED = "Reasoning models answer so:\n\n```\n<think>\nHm.\n</think>\nYes.\n```\n";

describe("thinking before an answer", () => {
  it.each([
    ["a block", "<think>Hm.\nWell.</think>\n\nYes.", "Yes."],
    ["a block after blank space", "\n <think>\nHm.\n</think>Yes.", "Yes."],
    ["an empty block", "<think>\n\n</think>\n\nYes.", "Yes."],
    ["two blocks", "<think>Hm.</think>\n<think>Well.</think>\nYes.", "Yes."],
    ["a block that was never closed", "<think>Hm. I should", ""],
    ["a block whose opening is missing", "Hm.\nWell.\n</think>\n\nYes.", "Yes."],
    ["the same at the end of a line", "Hm. Well.</think>\nYes.", "Yes."],
    ["the same with the answer right behind it", "Hm. Well.</think>The answer is 4.", "The answer is 4."],
    ["the same with a heading behind it", "Hm. `ls`? Well. </think># Answer", "# Answer"],
    ["the same with code in it", "Run\n```\nls\n```\n</think>\n\nYes.", "Yes."],
    ["the same and no answer", "Hm.\n</think>", ""],
  ])("is left out: %s", (_what, text, expected) => {
    expect(withoutThoughts(text)).toBe(expected);
  });

  it.each([
    ["nothing of it", "Yes.\n"],
    ["a tag in the text", "Qwen puts <think> in front of its answers."],
    ["tags in code", "It answers `<think>Hm.</think>` first."],
    ["a block of code", FENCED],
    ["a closing tag in code", "It ends with `</think>`\nand goes on."],
    ["a closing tag in a block of code", "So:\n```\n</think>\n```\nYes."],
    ["a closing tag in code with more", "It answers `Hm.</think>Yes.` then."],
    ["a closing tag in a line of a block of code", "So:\n```\nHm.</think>Yes.\n```\nYes."],
    ["a closing tag in quotes", 'It writes "</think>Yes" then.'],
    ["a closing tag before a stop", "It ends with </think>. Then it goes on."],
    ["a closing tag in a sentence", "It ends with </think> and goes on."],
    ["another tag", "<thinker>Rodin</thinker>"],
    ["a block behind the answer", "Yes.\n<think>\nHm.\n</think>\nNo."],
  ])("is not suspected in %s", (_what, text) => {
    expect(withoutThoughts(text)).toBe(text);
  });

  it("leaves an answer about thinking whole", () => {
    expect(withoutThoughts(`<think>Hm.</think>${FENCED}`)).toBe(FENCED);
  });
});

describe("in a text that comes in pieces", () => {
  const streamed = (pieces: readonly string[]): string =>
    pieces.map(thoughtFilter()).reduce((shown, { text, anew }) => (anew ? text : shown + text), "");

  it.each([
    ["<think>Hm.</think>\n\nYes. ", "Yes. "],
    ["  <think>Hm.</think><think>Well.</think>Yes.", "Yes."],
    ["<think>Hm. I should", ""],
    ["<thinker>Rodin", "<thinker>Rodin"],
    ["Hm. Well.\n</think>\n\nYes. No.", "Yes. No."],
    ["Hm. Well.</think>Yes.", "Yes."],
    ["It ends with `</think>`\nand goes on.", "It ends with `</think>`\nand goes on."],
    [" Yes, <think> is a tag.</think>", " Yes, <think> is a tag.</think>"],
  ])("the result does not depend on the cuts: %s", (text, expected) => {
    assert(
      property(array(integer({ min: 0, max: text.length })), (cuts) => {
        const edges = [0, ...cuts.toSorted((a, b) => a - b), text.length];
        const pieces = edges.slice(1).map((edge, index) => text.slice(edges[index], edge));
        expect(streamed(pieces).trimStart()).toBe(expected.trimStart());
      }),
    );
  });
});
