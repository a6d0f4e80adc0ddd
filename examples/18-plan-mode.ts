// A lead agent per request: plan mode is on for complex tasks and off for simple ones, in one process.
import { makeLeadAgent } from "holdfast";
import { callTool, ScriptedModel } from "holdfast/testing";

function createAgentForTask(complexity: string, model: ScriptedModel) {
  const config = {
    configurable: {
      thread_id: `task-${complexity}`,
      is_plan_mode: ["high", "very_high"].includes(complexity),
    },
  };
  return { agent: makeLeadAgent(config, { model }), config };
}

const scripts = {
  low: new ScriptedModel(["It is a build tool."]),
  high: new ScriptedModel([
    callTool("write_todos", { todos: [{ content: "Port the build", status: "in_progress" }] }),
    callTool("write_todos", { todos: [{ content: "Port the build", status: "completed" }] }),
    "Ported.",
  ]),
};
for (const [complexity, model] of Object.entries(scripts)) {
  const { agent, config } = createAgentForTask(complexity, model);
  const result = await agent.invoke({ messages: [{ role: "user", content: "Vite?" }] }, config);
  const tools = (model.requests[0]!.tools as { function: { name: string } }[]).map(
    (tool) => tool.function.name,
  );
  console.log(`${complexity}: ${tools.join(", ")}`);
  console.log(`  title "${result.title}", todos ${JSON.stringify(result.todos?.map((todo) => todo.status))}`);
}
