// A run as spans on a tracer of your own: the agent, its plan items, its model and tool calls, its sub-agents.
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { createDeepAgent } from "holdfast";
import { traceRun } from "holdfast/telemetry";
import { callTool, ScriptedModel } from "holdfast/testing";

// In a program that has OpenTelemetry already: `trace.getTracer("my-app")` of `@opentelemetry/api`.
const exporter = new InMemorySpanExporter();
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
const tracer = provider.getTracer("my-app");

// In place of a real model.
const model = new ScriptedModel([
  callTool("write_todos", { todos: ["Look around", "Write a report"] }),
  callTool("task", { description: "Look around", subagent_type: "general-purpose" }),
  "There is nothing.",
  [
    callTool("update_todos", { done: ["1"] }),
    callTool("write_file", { file_path: "/report.md", content: "-" }),
  ],
  "The report is written.",
]);

const agent = createDeepAgent({ model });
const input = { messages: [{ role: "user", content: "Look around and report" }] };
// As `agent.invoke(input)`. Below the span that is active, if one is.
const { messages } = await traceRun(agent, input, { tracer, name: "reporter", model: "scripted:model" });
console.log(messages.at(-1)!.text);

const spans = exporter.getFinishedSpans().toSorted((a, b) => a.startTime[0] - b.startTime[0]);
function draw(parent?: string, indent = ""): void {
  for (const span of spans) {
    if (span.parentSpanContext?.spanId !== parent) continue;
    console.log(`${indent}${span.name}`);
    draw(span.spanContext().spanId, `${indent}  `);
  }
}
draw();
