import type { Question } from "../../web/src/client/contract.ts";

/** The agent wants to write a file. */
export const WRITE: Question = {
  id: "q1",
  kind: "permission",
  text: "",
  options: [],
  call: {
    owner: "main",
    call: "c9",
    name: "write_file",
    args: { file_path: "docs/fields.md", content: "# Fields\n\nNew.\n" },
  },
};
/** A helper wants to run a command. */
export const COMMAND: Question = {
  id: "q2",
  kind: "permission",
  text: "",
  options: [],
  owner: "main/researcher:call_9",
  call: {
    owner: "main/researcher:call_9",
    call: "c10",
    name: "execute",
    args: { command: "npm test", timeout: 60 },
  },
};

/** The agent asks which way it should go. */
export const CHOICE: Question = {
  id: "q3",
  kind: "clarification",
  text: "Which way is it rounded?",
  options: ["up", "down"],
};
