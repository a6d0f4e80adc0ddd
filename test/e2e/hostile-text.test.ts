import { HumanMessage } from "@langchain/core/messages";
import { createAgent } from "langchain";
import { expect, it } from "vitest";
import { IgnoreRules } from "../../src/files/search/ignore-rules.ts";
import { titleMiddleware } from "../../src/middleware/title/index.ts";
import { messageOf } from "../../src/models/failure/error-chain.ts";
import { folderIn } from "../../src/models/offline/model.ts";
import { reasonIn } from "../../src/models/offline/words.ts";
import { ScriptedModel } from "../../src/testing/index.ts";
import { readAnswer } from "../../src/threads/questions/index.ts";
import { ownerName } from "../../src/threads/view/view.ts";

/** So long that a time in proportion to its square is hours. */
const MANY = 2_000_000;
const many = (text: string): string => text.repeat(MANY / text.length);

const approval = { id: "1", kind: "plan-approval" as const, text: "", options: [] };

it.each<[what: string, read: (text: string) => unknown, text: string]>([
  ["an error of a server", (message) => messageOf({ message }), many("[500 ")],
  ["an answer of blank lines", (text) => readAnswer(approval, `y${text}`), `${many("\n")}x`],
  ["a sub-agent's place", ownerName, `main/a${many(":")}\n`],
  ["a request of dots", folderIn, `survey the folder ${many(".")}x`],
  ["a failed call of quotes", (result) => reasonIn({ args: {}, result }), many('"')],
])("%s is read in time", (_what, read, text) => {
  const outcome = (): unknown => {
    try {
      return read(text);
    } catch (error) {
      return error instanceof Error;
    }
  };
  expect(outcome()).not.toBe(false);
});

it("ignore rules built to hang are dropped, and other rules keep an escaped blank", async () => {
  const text = `${many(" ")}x\n${"*a".repeat(100)}*b\n${"**/a/".repeat(50)}b\nend\\  \ntail  \n`;
  const read = async (path: string) => (path === "/.gitignore" ? text : undefined);
  const rules = new IgnoreRules({ read, names: [] });
  const paths = ["/end ", "/end", "/tail", `/${"a".repeat(255)}`, "/a".repeat(2000)];
  const found = paths.map((path) => rules.skips(path, false));
  expect(await Promise.all(found)).toEqual([true, false, true, false, false]);
});

it("a title of blanks is read in time", async () => {
  const model = { invoke: async () => ({ text: `"A title${many(" ")}x` }) };
  const agent = createAgent({ model: new ScriptedModel(["ok"]), middleware: [titleMiddleware({ model })] });
  const { title } = await agent.invoke({ messages: [new HumanMessage("go")] });
  expect(title).toBe("A title");
});
