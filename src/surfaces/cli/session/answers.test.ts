import { describe, expect, it } from "vitest";
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
  const printed: string[] = [];
  const ask = async (shownToThem: DisplayQuestion): Promise<DisplayAnswer> => {
    about.push(...(shownToThem.about ?? []));
    return answer;
  };
  const asker = {
    display: { ask, print: (lines: readonly string[]) => void printed.push(...lines) },
    paint: plainPaint,
    settings: {},
    mode: "ask",
    agreesTo: () => false,
  } as unknown as Asker;
  return { read: await answerFor(question, asker), about, printed };
}

const CHOICE: Question = { id: "q", kind: "clarification", text: "Which bed?", options: ["left", "right"] };
const PLAN: Question = { id: "q", kind: "plan-approval", text: "Work on this plan?", options: [] };

it.each<[Question, DisplayAnswer, string[]]>([
  [QUESTION, { value: "approve" }, ["You approved execute."]],
  [QUESTION, { words: "too long" }, ["You rejected execute: too long"]],
  [PLAN, { value: "approve" }, ["You approved the plan."]],
  [CHOICE, { value: "left" }, ["You answered: left"]],
  [QUESTION, undefined, []],
])("the session prints the answer to a question in one line (%#)", async (question, answer, lines) => {
  expect((await asked(question, answer)).printed).toEqual(lines);
});

it("the remark on a call is shown next to it", async () => {
  const remark = "It had run for 42 s when the run was stopped.";
  const { about } = await asked({ ...QUESTION, repeated: true, remark }, { value: "approve" });
  expect(about).toEqual(["$ make", remark]);
});

it.each([
  ["yes", { type: "approve" }],
  ['{"type":"edit","args":{"command":"make -n"}}', { type: "edit", args: { command: "make -n" } }],
  ["no: later", { type: "reject", message: "later" }],
  ["yes, but later", { type: "reject", message: "yes, but later" }],
])("reads %j as a decision if it is one, otherwise as a reason", async (words, decision) => {
  expect((await asked(QUESTION, { words })).read).toEqual(decision);
});

it("without commands, words with a slash are an answer, and early words wait", async () => {
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

describe("a short answer that Enter sends while the agent works", () => {
  function prompt() {
    const submitted: string[] = [];
    let quiet = (): void => {};
    const keys = new PromptKeys({
      commands: () => [{ text: "/help" }],
      files: () => [],
      history: { add: () => {}, reset: () => {} },
      onQuiet: (then: () => void) => {
        quiet = then;
        return () => {
          quiet = () => {};
        };
      },
      onAsk: () => {},
      onRedraw: () => {},
      onChange: () => {},
    } as unknown as PromptKeysOptions);
    keys.isBusy = true;
    keys.actions = { submit: (text: string) => submitted.push(text) } as never;
    const type = (words: string): void => {
      for (const text of words) keys.press({ type: "text", text });
    };
    const send = (words: string): void => {
      type(words);
      keys.press({ type: "key", name: "enter" } as never);
    };
    const ask = () => {
      const choices = [
        { value: "approve", label: shown`yes` },
        { value: "reject", label: shown`no`, key: "n" },
      ];
      const answer = keys.ask({ question: shown`Allow it?`, choices, words: shown`or why not` } as never);
      keys.above(plainPaint);
      return answer;
    };
    return { keys, submitted, type, send, ask, quiet: () => quiet() };
  }

  it.each(["2", "1", "n", "yes"])("%j is dropped where its question cannot be read yet", async (words) => {
    const { keys, submitted, send, ask, quiet } = prompt();
    const answer = ask();
    send(words);
    expect(keys.draft.text).toBe("");
    keys.above(plainPaint);
    quiet();
    send("n");
    expect(await answer).toEqual({ value: "reject" });
    expect(submitted).toEqual([]);
  });

  it("is dropped where the question appears a moment later", async () => {
    const { keys, submitted, send, ask, quiet } = prompt();
    send("2");
    const answer = ask();
    expect(keys.draft.text).toBe("");
    quiet();
    send("1");
    expect(await answer).toEqual({ value: "approve" });
    expect(submitted).toEqual([]);
  });

  it("becomes a message once no question appears, or another key follows", () => {
    const { keys, submitted, send, type, quiet } = prompt();
    send("2");
    expect(submitted).toEqual([]);
    quiet();
    expect([submitted, keys.draft.text]).toEqual([["2"], ""]);
    send("3");
    type("a");
    expect([submitted, keys.draft.text]).toEqual([["2", "3"], "a"]);
  });

  it("leaves longer words a message", () => {
    const { submitted, send, ask } = prompt();
    send("2 files are missing");
    void ask();
    send("no tests yet");
    expect(submitted).toEqual(["2 files are missing", "no tests yet"]);
  });
});
