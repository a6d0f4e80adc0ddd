import { expect, it } from "vitest";
import { DEERFLOW_SYSTEM_PROMPT, DEERFLOW_WRITE_DESCRIPTION } from "./deerflow.prompt.ts";

const WHOLE = `${DEERFLOW_SYSTEM_PROMPT}\n${DEERFLOW_WRITE_DESCRIPTION}`;

it("a request has each prompt section once, in the system prompt or with the tool", () => {
  const sections = [...WHOLE.matchAll(/<(\w+)>/g)].map(([, name]) => name);
  expect(sections).toEqual([
    "todo_list_system",
    "critical_rules",
    "important",
    "usage",
    "states",
    "best_practices",
    "completion_requirements",
  ]);
  for (const name of sections) expect(WHOLE.split(`</${name}>`)).toHaveLength(2);
});

it("no line of the prompt stands in it twice", () => {
  const lines = WHOLE.split("\n").filter((line) => line.trim() !== "");
  expect(lines.filter((line, at) => lines.indexOf(line) < at)).toEqual([]);
});
