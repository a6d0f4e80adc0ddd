import { AsyncLocalStorage } from "node:async_hooks";
import { MemorySaver } from "@langchain/langgraph";
import { context, SpanKind, SpanStatusCode, trace, type ContextManager } from "@opentelemetry/api";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
} from "@opentelemetry/sdk-trace-base";
import { afterEach, beforeEach, expect, expectTypeOf, it } from "vitest";
import { createDeepAgent } from "../../deep/index.ts";
import type { Todo } from "../../plan/index.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import { traceRun } from "./index.ts";

let exporter: InMemorySpanExporter;
let provider: BasicTracerProvider;

beforeEach(() => {
  exporter = new InMemorySpanExporter();
  provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
});
afterEach(() => context.disable());

const SCRIPT: Step[] = [
  [callTool("write_todos", { todos: ["Secret errand"] }), callTool("ls", { path: "/" })],
  callTool("task", { description: "Look around", subagent_type: "general-purpose" }),
  callTool("read_file", { file_path: "/nowhere" }),
  "Nothing there.",
  "Done.",
];
const input = { messages: [{ role: "user", content: "Go and look" }] };

async function traced(steps: Step[], more: { hasContent?: boolean } = {}): Promise<ReadableSpan[]> {
  const agent = createDeepAgent({ model: new ScriptedModel(steps) });
  await traceRun(agent, input, { tracer: provider.getTracer("app"), model: "openai:gpt-x", ...more });
  return exporter.getFinishedSpans();
}

function treeOf(spans: readonly ReadableSpan[]): string[] {
  const nameOf = (id: string | undefined) =>
    spans.find((span) => span.spanContext().spanId === id)?.name ?? "-";
  return spans.map(({ name, parentSpanContext }) => `${nameOf(parentSpanContext?.spanId)} > ${name}`);
}

it("a run is one tree on the tracer: items, model and tool calls, and sub-agents", async () => {
  const spans = await traced(SCRIPT);
  expect(treeOf(spans).toSorted()).toEqual([
    "- > invoke_agent holdfast",
    "execute_tool task > invoke_agent general-purpose",
    "invoke_agent general-purpose > chat openai:gpt-x",
    "invoke_agent general-purpose > chat openai:gpt-x",
    "invoke_agent general-purpose > execute_tool read_file",
    "invoke_agent holdfast > chat openai:gpt-x",
    "invoke_agent holdfast > execute_tool ls",
    "invoke_agent holdfast > execute_tool write_todos",
    "invoke_agent holdfast > plan_item 1",
    "plan_item 1 > chat openai:gpt-x",
    "plan_item 1 > chat openai:gpt-x",
    "plan_item 1 > execute_tool task",
  ]);
  const find = (name: string) => spans.find((span) => span.name === name)!;
  expect(find("chat openai:gpt-x").kind).toBe(SpanKind.CLIENT);
  expect(find("execute_tool read_file").status.code).toBe(SpanStatusCode.ERROR);
  expect(find("invoke_agent holdfast").attributes).toMatchObject({
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.request.model": "gpt-x",
    "holdfast.outcome": "done",
    "holdfast.plan.completed": 1,
  });
  expect(find("invoke_agent holdfast").events.map(({ name }) => name)).toContain("plan-change");
});

it("spans contain message text only on request", async () => {
  const words = /Secret errand|Look around|Nothing there/;
  const attributes = (spans: ReadableSpan[]) => JSON.stringify(spans.map((span) => span.attributes));
  expect(attributes(await traced(SCRIPT))).not.toMatch(words);
  exporter.reset();
  expect(attributes(await traced(SCRIPT, { hasContent: true }))).toMatch(words);
});

it("the span of a run is a child of the active span", async () => {
  context.setGlobalContextManager(asyncContexts());
  const tracer = provider.getTracer("app");
  await tracer.startActiveSpan("request", async (span) => {
    await traced(["Done."]);
    span.end();
  });
  expect(treeOf(exporter.getFinishedSpans())).toContain("request > invoke_agent holdfast");
});

it("the state comes back as invoke gives it, with its types, and chunks on the way", async () => {
  const agent = createDeepAgent({ model: new ScriptedModel(SCRIPT) });
  const namespaces: number[] = [];
  const state = await traceRun(agent, input, {
    tracer: provider.getTracer("app"),
    streamMode: ["updates"],
    onChunk: (_chunk, { mode, namespace }) => {
      expect(mode).toBe("updates");
      namespaces.push(namespace.length);
    },
  });
  expectTypeOf(state.todos).toExtend<Todo[]>();
  expect(state.messages.at(-1)!.text).toBe("Done.");
  expect(state.todos).toMatchObject([{ status: "completed" }]);
  expect(new Set(namespaces).size).toBeGreaterThan(1);
});

it("a run that waits for the user ends as waiting, and what it asks comes back", async () => {
  const agent = createDeepAgent({
    model: new ScriptedModel([callTool("ls", { path: "/" }), "Done."]),
    interruptOn: { ls: true },
    checkpointer: new MemorySaver(),
  });
  const options = { tracer: provider.getTracer("app"), configurable: { thread_id: "t" } };
  const state = await traceRun(agent, input, options);
  expect(state).toMatchObject({ __interrupt__: [{ value: expect.anything() }] });
  expect(exporter.getFinishedSpans().at(-1)!.attributes).toMatchObject({
    "holdfast.outcome": "waiting",
    "gen_ai.conversation.id": "t",
  });
});

it("a run that fails throws as invoke does, and every span ends", async () => {
  await expect(traced([callTool("ls", { path: "/" }), new Error("broken")])).rejects.toThrow("broken");
  const main = exporter.getFinishedSpans().find(({ name }) => name.startsWith("invoke_agent"))!;
  expect(main.status).toMatchObject({ code: SpanStatusCode.ERROR, message: "broken" });
  expect(exporter.getFinishedSpans().filter(({ name }) => name.startsWith("chat"))).toHaveLength(2);
});

it("a run without a provider records nothing, and stays the same", async () => {
  const agent = createDeepAgent({ model: new ScriptedModel(["Done."]) });
  const { messages } = await traceRun(agent, input, { tracer: trace.getTracer("none") });
  expect(messages.at(-1)!.text).toBe("Done.");
});

/** Stands in for `@opentelemetry/context-async-hooks`. */
function asyncContexts(): ContextManager {
  const storage = new AsyncLocalStorage<ReturnType<typeof context.active>>();
  const manager: ContextManager = {
    active: () => storage.getStore() ?? ROOT,
    with: (active, run, that, ...args) => storage.run(active, () => run.apply(that, args)),
    bind: (_context, target) => target,
    enable: () => manager,
    disable: () => manager,
  };
  return manager;
}
const ROOT = context.active();
