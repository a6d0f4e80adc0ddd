// A deep agent: it plans, works on files in the graph state, and hands work to sub-agents that run side by side.
import { createDeepAgent, isPlanChangeEvent, isSubagentEvent } from "holdfast";
import { renderStatus } from "holdfast/plan";
import { callTool, ScriptedModel } from "holdfast/testing";

const writer = new ScriptedModel(
  [callTool("write_file", { file_path: "/kelp.md", content: "Kelp holds fast.\n" }), "I wrote /kelp.md."],
  { loop: true },
);
const lead = new ScriptedModel([
  [
    callTool("write_todos", { todos: ["Write about kelp", "Correct it"] }),
    callTool("task", { description: "Write /kelp.md", subagent_type: "writer", todo_id: "1" }),
  ],
  // Somebody else has written it: it is read before it is changed.
  callTool("read_file", { file_path: "/kelp.md" }),
  [
    callTool("edit_file", { file_path: "/kelp.md", old_string: "holds fast", new_string: "has a holdfast" }),
    callTool("update_todos", { done: "2" }),
  ],
  "Done.",
]);

const agent = createDeepAgent({
  model: lead,
  subagents: [{ name: "writer", description: "writes short texts", prompt: "You write.", model: writer }],
});

const input = { messages: [{ role: "user", content: "A note about kelp, please" }] };
for await (const [mode, chunk] of await agent.stream(input, { streamMode: ["custom", "values"] })) {
  if (mode === "values") console.log("files:", JSON.stringify(chunk.files));
  else if (isSubagentEvent(chunk)) console.log(chunk.type, chunk.name);
  else if (isPlanChangeEvent(chunk)) console.log(`${chunk.owner}: ${renderStatus(chunk.todos)}`);
}
