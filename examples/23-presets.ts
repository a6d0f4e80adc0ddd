// Four presets on one engine: what the model is given in each, and how its plan call is answered.
import { ToolMessage } from "@langchain/core/messages";
import { planMiddleware } from "holdfast";
import { PRESET_NAMES } from "holdfast/plan";
import { callTool, ScriptedModel } from "holdfast/testing";
import { createAgent } from "langchain";

for (const preset of PRESET_NAMES) {
  const plan =
    preset === "checklist"
      ? callTool("todo", { items: [{ id: "1", text: "Read", status: "in_progress" }] })
      : callTool("write_todos", { todos: [{ content: "Read", status: "in_progress" }] });
  const model = new ScriptedModel([plan, "Done."]);
  const agent = createAgent({ model, middleware: [planMiddleware({ preset, reminders: false })] });
  const { messages } = await agent.invoke({ messages: [{ role: "user", content: "go" }] });

  const tools = model.requests[0]!.tools as { function: { name: string } }[];
  console.log(`${preset}: ${tools.map((tool) => tool.function.name).join(", ")}`);
  console.log(messages.find((message) => ToolMessage.isInstance(message))?.text, "\n");
}
