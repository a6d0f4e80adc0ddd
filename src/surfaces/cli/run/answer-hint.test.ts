import { expect, it } from "vitest";
import type { Question } from "../../../threads/questions/index.ts";
import { answerFlags } from "./answer-hint.ts";

const question = (options: string[]): Question => ({ id: "q", kind: "clarification", text: "?", options });

it("the flags that answer a question can be copied, or are clearly a blank", () => {
  expect(answerFlags([question(["left", "right"])])).toBe("--answer left");
  expect(answerFlags([question(["the left one"])])).toBe("--answer 'the left one'");
  expect(answerFlags([question([])])).toBe('--answer "…"');
});
