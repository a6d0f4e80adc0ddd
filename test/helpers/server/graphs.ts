// The lead agent and the deep agent for a LangGraph server. The model decides from the conversation alone, so that it
// plays the same part in every process and after every restart.
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { createDeepAgent, leadAgentGraph } from "../../../src/index.ts";
import { callTool, ScriptedModel, type ModelRequestRecord, type Step } from "../../../src/testing/index.ts";

const todos = (...statuses: string[]) => ({
  todos: ["Look", "Ask", "Change"].map((content, index) => ({ content, status: statuses[index] })),
});

function play({ messages, tools }: ModelRequestRecord): Step {
  const start = messages.findLastIndex(
    (message) => HumanMessage.isInstance(message) && message.name === undefined,
  );
  const turn = messages.slice(start).filter((message) => AIMessage.isInstance(message)).length;
  const names = (tools as { function: { name: string } }[]).map((tool) => tool.function.name);
  if (messages[start]?.text === "Can you plan?") return names.includes("write_todos") ? "Yes." : "No.";
  if (!names.includes("write_todos")) return "No plan needed.";
  if (names.includes("update_todos")) {
    const deep = [
      callTool("write_todos", { todos: ["Look", "Change"] }),
      [
        callTool("update_todos", { done: "1", note: "by hand" }),
        callTool("write_file", { file_path: "/note.md", content: "looked" }),
      ],
      callTool("update_todos", { done: "2", note: "by hand" }),
    ];
    return deep[turn] ?? "Done.";
  }
  const lead = [
    callTool("write_todos", todos("in_progress", "pending", "pending")),
    callTool("write_todos", todos("completed", "in_progress", "pending")),
    callTool("ask_clarification", { question: "Which one?", options: ["a", "b"] }),
    callTool("write_todos", todos("completed", "completed", "completed")),
  ];
  const answer = messages.findLast(
    (message) => ToolMessage.isInstance(message) && message.name === "ask_clarification",
  );
  return lead[turn] ?? `Done. ${answer?.text}`;
}

const model = new ScriptedModel([play], { loop: true });

export const lead = leadAgentGraph({ model });
export const deep = createDeepAgent({ model }).graph;
