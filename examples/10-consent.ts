// A person decides about each call that needs consent. The calls beside it are made and kept whatever is decided.
import { Command, MemorySaver } from "@langchain/langgraph";
import { createDeepAgent, type ConsentDecision, type ConsentRequest } from "holdfast";
import { renderStatus } from "holdfast/plan";
import { callTool, ScriptedModel } from "holdfast/testing";

const write = (file: string, id: string) =>
  callTool("write_file", { file_path: file, content: "Dear all" }, id);
const model = new ScriptedModel([
  callTool("write_todos", { todos: ["Read the brief", "Write the letters"] }),
  [
    callTool("update_todos", { done: "1" }),
    write("/ann.md", "1"),
    write("/bob.md", "2"),
    write("/cy.md", "3"),
  ],
  callTool("update_todos", { done: "2" }),
  "Two letters are written; Bob gets none.",
]);
const agent = createDeepAgent({
  model,
  interruptOn: { write_file: true },
  checkpointer: new MemorySaver(),
});
const config = { configurable: { thread_id: "letters" } };

const paused = await agent.invoke({ messages: [{ role: "user", content: "Write to everybody" }] }, config);
const open = (paused as unknown as Record<string, { id: string; value: ConsentRequest }[]>)["__interrupt__"]!;
for (const { value } of open) console.log("May it", value.name, value.args["file_path"], "?");

const decisions: Record<string, ConsentDecision> = {
  "1": { type: "approve" },
  "2": { type: "reject", message: "Bob has left." },
  "3": { type: "edit", args: { file_path: "/cyrus.md", content: "Dear Cyrus" } },
};
const resume = Object.fromEntries(open.map(({ id, value }) => [id, decisions[value.call]]));
const { files, todos } = await agent.invoke(new Command({ resume }), config);
console.log("files:", files);
console.log("plan:", renderStatus(todos));
for (const message of model.requests[2]!.messages.slice(-3)) console.log("the model reads:", message.text);
