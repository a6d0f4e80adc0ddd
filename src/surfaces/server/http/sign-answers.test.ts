import { expect, it } from "vitest";
import { signAnswers } from "./sign-answers.ts";

const NO = { type: "reject", message: "not now" };

it("decisions carry the name of their user, regardless of the name in the request", () => {
  const answers = { one: { type: "approve", by: "boss" }, two: NO };
  expect(signAnswers(answers, "ann")).toEqual({
    one: { type: "approve", by: "ann" },
    two: { ...NO, by: "ann" },
  });
});

it("so has each decision of a list, in both of its forms", () => {
  const by = "ann";
  expect(signAnswers({ one: { decisions: [{ type: "approve" }, NO] }, two: [NO] }, by)).toEqual({
    one: {
      decisions: [
        { type: "approve", by },
        { ...NO, by },
      ],
    },
    two: [{ ...NO, by }],
  });
});

it("words are left as they are, and so is everything where a server knows no users", () => {
  const answers = { one: "green", two: { answer: "blue" }, three: NO };
  expect(signAnswers(answers, "ann")).toMatchObject({ one: "green", two: { answer: "blue" } });
  expect(signAnswers(answers, undefined)).toEqual(answers);
});
