import type { Question } from "../../../web/src/client/contract.ts";

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

/** The agent wants to change two places of a file. */
export const EDITS: Question = {
  id: "q4",
  kind: "permission",
  text: "",
  options: [],
  call: {
    owner: "main",
    call: "c11",
    name: "edit_file",
    args: {
      file_path: "src/settings/page.tsx",
      edits: [
        { old_string: "const fields = [];\n", new_string: "const fields = [email, slug];\n" },
        { old_string: '"old"', new_string: '"new"', replace_all: true },
      ],
    },
  },
};
/** The agent asks which way it should go. */
export const CHOICE: Question = {
  id: "q3",
  kind: "clarification",
  text: "Which way is it rounded?",
  options: ["up", "down"],
};

/** The agent proposes a plan with a rule. */
export const RULED: Question = {
  id: "q5",
  kind: "plan-approval",
  text: "",
  options: [],
  todos: ["Read", "List", "Find out", "Rewrite", "Test"].map((content, at) => ({
    id: String(at + 1),
    content,
    status: "pending" as const,
  })),
  rules: ["change nothing in src/api/orders.ts"],
};

/** The agent asks at the end of a long text. */
export const LONG: Question = { ...CHOICE, text: "There is more to know.\n\n".repeat(12) + CHOICE.text };
