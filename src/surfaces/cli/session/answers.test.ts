import { expect, it } from "vitest";
import type { Question } from "../../../threads/questions/index.ts";
import { shown } from "../output/harmless.ts";
import { plainPaint } from "../output/paint.ts";
import { answerFor, type Asker } from "./consent.ts";
import type { DisplayAnswer, DisplayQuestion } from "./display/display.ts";
import { PromptKeys, type PromptKeysOptions } from "./prompt/prompt-keys.ts";

const QUESTION: Question = {
  id: "q",
  kind: "permission",
  text: "The agent asks for permission",
  options: ["approve", "reject"],
  call: { owner: "main", call: "c", name: "execute", args: { command: "make" } },
};

/** Puts a question to somebody who gives an answer, and returns what was shown and read. */
async function asked(question: Question, answer: DisplayAnswer) {
  const about: string[] = [];
  const ask = async (shownToThem: DisplayQuestion): Promise<DisplayAnswer> => {
    about.push(...(shownToThem.about ?? []));
    return answer;
  };
  const asker = {
    display: { ask },
    paint: plainPaint,
    settings: {},
    mode: "ask",
    agreesTo: () => false,
  } as unknown as Asker;
  return { read: await answerFor(question, asker), about };
}

it("the remark on a call is shown beside it", async () => {
  const remark = "It had run for 42 s when the run was stopped.";
  const { about } = await asked({ ...QUESTION, repeated: true, remark }, { value: "approve" });
  expect(about).toEqual(["$ make", remark]);
});

it.each([
  ["yes", { type: "approve" }],
  ['{"type":"edit","args":{"command":"make -n"}}', { type: "edit", args: { command: "make -n" } }],
  ["no: later", { type: "reject", reason: "later", message: "later" }],
  ["yes, but later", { type: "reject", reason: "yes, but later", message: "yes, but later" }],
])("the words %j are read as a decision where they are one, else as a reason", async (words, decision) => {
  expect((await asked(QUESTION, { words })).read).toEqual(decision);
});

it("without commands, words with a slash are an answer, and words typed ahead wait for the question", async () => {
  let arm = (): void => {};
  const keys = new PromptKeys({
    commands: () => [],
    files: () => [],
    history: { add: () => {}, reset: () => {} },
    onQuiet: (then: () => void) => {
      arm = then;
      return () => {};
    },
    onAsk: () => {},
    onRedraw: () => {},
    onChange: () => {},
  } as unknown as PromptKeysOptions);
  const answer = keys.ask({ question: shown`Which folder?`, choices: [], words: shown`type` } as never);
  for (const text of "/home") keys.press({ type: "text", text });
  keys.press({ type: "key", name: "enter" } as never);
  expect(keys.draft.text).toBe("/home");
  for (const _ of "/home") keys.press({ type: "key", name: "backspace" } as never);
  keys.above(plainPaint);
  arm();
  for (const text of "/srv") keys.press({ type: "text", text });
  keys.press({ type: "key", name: "enter" } as never);
  expect(await answer).toEqual({ words: "/srv" });
});
