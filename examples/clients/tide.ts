// An agent on a script, which the examples beside it serve and speak to: it plans, asks before it writes a file, and
// can be stopped while it waits.
import { EventEmitter, once } from "node:events";
import { AIMessage } from "@langchain/core/messages";
import { createDeepAgent } from "holdfast";
import { createServer } from "holdfast/server";
import { sqliteSaver } from "holdfast/storage";
import { callTool, ScriptedModel, type Step } from "holdfast/testing";
import { tool } from "langchain";

const SCRIPT: Record<string, Step[]> = {
  "How is the tide?": [
    callTool("write_todos", { todos: ["Look at the tide", "Write the note"] }),
    callTool("write_file", { file_path: "/note.md", content: "Low" }),
    callTool("update_todos", { done: "1,2" }),
    "The tide is low.",
  ],
  "Wait for high tide.": [callTool("wait")],
  "Go on.": ["It is still low."],
};

export const TOKEN = "a token for examples";
/** Tells of `begun` and `stopped` waiting. */
export const tide = new EventEmitter();

const wait = tool(
  async (_, { signal }) => {
    tide.emit("begun");
    await once(signal, "abort");
    tide.emit("stopped");
  },
  { name: "wait", description: "Waits for high tide.", schema: { type: "object", properties: {} } },
);

/** The answer by what was said last, so that any number of threads can use it. */
const model = new ScriptedModel(
  [
    ({ messages }) => {
      const at = messages.findLastIndex(({ text }) => text in SCRIPT);
      const answers = messages.slice(at).filter((message) => AIMessage.isInstance(message));
      return SCRIPT[messages[at]!.text]![answers.length]!;
    },
  ],
  { loop: true },
);

export const checkpointer = await sqliteSaver(":memory:");
export const agent = createDeepAgent({
  model,
  checkpointer,
  tools: [wait],
  interruptOn: { write_file: true },
  plan: { verify: false },
});
export const server = await createServer({ graphs: { tide: agent }, checkpointer, token: TOKEN });
