import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Collector } from "../../../test/helpers/telemetry/collector.ts";
import { expectOfficialTypes, SpanKind, StatusCode } from "../../../test/helpers/telemetry/otlp.ts";
import { tracedRun } from "../../../test/helpers/telemetry/traced-run.ts";
import { callTool, type Step } from "../../testing/index.ts";
import { urlOf } from "./environment.ts";
import { tracesFrom } from "./index.ts";

interface KeyValue {
  key: string;
  value: Record<string, string | boolean | number>;
}
interface Sent {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: KeyValue[];
  events: { name: string }[];
  droppedEventsCount?: number;
  status: { code?: number; message?: string };
}
interface Request {
  resourceSpans: { resource: { attributes: KeyValue[] }; scopeSpans: { spans: Sent[] }[] }[];
}

let collector: Collector;

beforeEach(async () => {
  collector = new Collector();
  await collector.start();
});
afterEach(() => collector.stop());

/** Runs a script with traces, and gives back what the collector got. */
async function traced(steps: Step[], env: Record<string, string> = {}): Promise<Sent[]> {
  await tracedRun(steps, {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
    OTEL_EXPORTER_OTLP_TIMEOUT: "120000",
    OTEL_METRICS_EXPORTER: "none",
    ...env,
  });
  expectOfficialTypes(collector);
  return sentTo(collector).flatMap(({ scopeSpans }) => scopeSpans[0]!.spans);
}

const sentTo = ({ requests }: Collector) => requests.flatMap(({ body }) => (body as Request).resourceSpans);

const attributesOf = ({ attributes }: { attributes: KeyValue[] }) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

const SCRIPT: Step[] = [
  [callTool("write_todos", { todos: ["Secret errand"] }), callTool("ls", { path: "/" })],
  callTool("task", { description: "Look around", subagent_type: "general-purpose" }),
  callTool("ls", { path: "/nowhere" }),
  "Nothing there.",
  "Done.",
];

describe("a run with a collector", () => {
  it("is one tree: the agent, its items, their model and tool calls, and sub-agents", async () => {
    const spans = await traced(SCRIPT);
    const nameOf = (id: string | undefined) => spans.find(({ spanId }) => spanId === id)?.name;
    const tree = spans.map(({ name, parentSpanId }) => `${nameOf(parentSpanId) ?? "-"} > ${name}`);
    expect(tree.toSorted()).toEqual([
      "- > invoke_agent holdfast",
      "execute_tool task > invoke_agent general-purpose",
      "invoke_agent general-purpose > chat openai:gpt-x",
      "invoke_agent general-purpose > chat openai:gpt-x",
      "invoke_agent general-purpose > execute_tool ls",
      "invoke_agent holdfast > chat openai:gpt-x",
      "invoke_agent holdfast > execute_tool ls",
      "invoke_agent holdfast > execute_tool write_todos",
      "invoke_agent holdfast > plan_item 1",
      "plan_item 1 > chat openai:gpt-x",
      "plan_item 1 > chat openai:gpt-x",
      "plan_item 1 > execute_tool task",
    ]);
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    for (const { traceId, spanId, startTimeUnixNano, endTimeUnixNano } of spans) {
      expect(`${traceId} ${spanId}`).toMatch(/^[\da-f]{32} [\da-f]{16}$/);
      expect(BigInt(endTimeUnixNano) >= BigInt(startTimeUnixNano)).toBe(true);
    }
  });

  it("reports usage, outcome and plan by the GenAI conventions", async () => {
    const spans = await traced(SCRIPT);
    const main = spans.find(({ name }) => name === "invoke_agent holdfast")!;
    expect(attributesOf(main)).toMatchObject({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.provider.name": "openai",
      "gen_ai.request.model": "gpt-x",
      "gen_ai.conversation.id": "t",
      "gen_ai.usage.input_tokens": expect.stringMatching(/^\d+$/),
      "holdfast.cost.usd": expect.any(Number),
      "holdfast.outcome": "done",
    });
    expect(main.events.map(({ name }) => name)).toContain("plan-change");
    const item = spans.find(({ name }) => name === "plan_item 1")!;
    expect(attributesOf(item)).toMatchObject({ "holdfast.todo.status": "completed" });
    const tool = spans.find(({ name }) => name === "execute_tool write_todos")!;
    expect(attributesOf(tool)).toMatchObject({
      "gen_ai.tool.name": "write_todos",
      "gen_ai.tool.type": "function",
    });
    expect(spans.find(({ name }) => name.startsWith("chat"))!.kind).toBe(SpanKind["SPAN_KIND_CLIENT"]);
    expect(main.kind).toBe(SpanKind["SPAN_KIND_INTERNAL"]);
  });

  it("matches OpenTelemetry's own types, also for failures", async () => {
    await traced(
      [
        callTool("write_todos", { todos: ["One", "Two"] }),
        callTool("update_todos", { block: [{ id: "1", reason: "No key" }] }),
        callTool("execute", { command: "exit 3" }),
        callTool("nonsense", {}),
        new Error("broken"),
      ],
      { OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "true" },
    );
    expect(collector.requests).not.toEqual([]);
    const [{ officially } = {}] = collector.requests;
    expect(officially).toMatchObject({ resourceSpans: [{ scopeSpans: [{ spans: expect.any(Array) }] }] });
  });

  it("sends no message text unless the user asks for it", async () => {
    const all = (spans: Sent[]) => JSON.stringify(spans);
    const words = /Secret errand|Go and look|Look around|Nothing there/;
    expect(all(await traced(SCRIPT))).not.toMatch(words);
    collector.requests = [];
    const told = await traced(SCRIPT, { OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "true" });
    for (const word of words.source.split("|")) expect(all(told)).toContain(word);
  });

  it("ends the span of an item when a new list cancels the item", async () => {
    const spans = await traced([
      callTool("write_todos", { todos: ["One"] }),
      callTool("write_todos", { todos: ["Two", "Three"] }),
      callTool("ls", { path: "/" }),
      "Done.",
    ]);
    const items = spans.filter(({ name }) => name.startsWith("plan_item"));
    const [first, second, ...others] = items.map((item) => ({ item, ...attributesOf(item) }));
    expect(others).toEqual([]);
    expect(first).toMatchObject({ "holdfast.todo.status": "cancelled" });
    expect(BigInt(first!.item.endTimeUnixNano) <= BigInt(second!.item.startTimeUnixNano)).toBe(true);
    const work = spans.find(({ name }) => name === "execute_tool ls")!;
    expect(work.parentSpanId).toBe(second!.item.spanId);
  });

  it("marks what failed", async () => {
    const spans = await traced([callTool("read_file", { file_path: "/none" }), new Error("broken")]);
    expect(spans.find(({ name }) => name === "execute_tool read_file")!.status).toMatchObject({
      code: StatusCode["STATUS_CODE_ERROR"],
    });
    expect(spans.find(({ name }) => name === "invoke_agent holdfast")!.status).toMatchObject({
      code: StatusCode["STATUS_CODE_ERROR"],
      message: expect.stringContaining("broken"),
    });
  });

  it("is sent as the standard variables say", async () => {
    const spans = await traced(["Done."], {
      OTEL_EXPORTER_OTLP_HEADERS: "x-key=a%20b",
      OTEL_RESOURCE_ATTRIBUTES: "team=reef,service.name=other",
      OTEL_SERVICE_NAME: "kelp",
      TRACEPARENT: `00-${"a".repeat(32)}-${"b".repeat(16)}-01`,
    });
    const posted = { url: "/v1/traces", type: "application/json", key: "a b" };
    expect(collector.requests[0]).toMatchObject(posted);
    const { resource } = sentTo(collector)[0]!;
    expect(attributesOf(resource)).toMatchObject({ "service.name": "kelp", team: "reef" });
    const main = spans.find(({ name }) => name === "invoke_agent holdfast")!;
    expect(main).toMatchObject({ traceId: "a".repeat(32), parentSpanId: "b".repeat(16) });
  });
});

describe("a collector", () => {
  it.each(["never", "an error"] as const)("does not end a run when it answers with %s", async (how) => {
    collector.answer = how;
    await traced(["Done."], { OTEL_EXPORTER_OTLP_TIMEOUT: "1000" });
    expect(collector.requests).toHaveLength(1);
  });

  it("does not end a run when it is unreachable", async () => {
    await traced(["Done."], { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" });
    expect(collector.requests).toEqual([]);
  });

  it("hears how many changes a span has had when they are too many to keep", async () => {
    const { OtlpTracer } = await import("./otlp.ts");
    const url = `${collector.endpoint}/v1/traces`;
    const tracer = new OtlpTracer({ url, resource: {}, version: "0", timeoutMs: 120_000 });
    const span = tracer.start("long", { at: 1 });
    for (let n = 0; n < 1500; n += 1) span.note("plan-change", n + 1);
    span.end(2000);
    // What comes after the end is left out.
    span.note("plan-change", 2001);
    span.set({ late: true });
    span.fail("late");
    await tracer.close();
    expectOfficialTypes(collector);
    expect(JSON.stringify(collector.requests)).not.toContain("late");
    const [{ events, droppedEventsCount } = expect.fail()] = sentTo(collector)[0]!.scopeSpans[0]!.spans;
    expect([events.length, droppedEventsCount]).toEqual([1000, 500]);
  });

  it("gets only the spans that fit after an outage, and the number of missing spans", async () => {
    const { OtlpTracer } = await import("./otlp.ts");
    collector.answer = "an error";
    const url = `${collector.endpoint}/v1/traces`;
    const tracer = new OtlpTracer({ url, resource: {}, version: "0", timeoutMs: 120_000 });
    for (let n = 0; n < 10_000; n += 1) tracer.start("one", { at: n }).end(n);
    await tracer.close();
    collector.answer = "at once";
    collector.requests = [];
    await tracer.close();
    expectOfficialTypes(collector);
    const sent = sentTo(collector);
    expect(sent.flatMap(({ scopeSpans }) => scopeSpans[0]!.spans).length).toBeLessThanOrEqual(4096);
    expect(Number(attributesOf(sent[0]!.resource)["holdfast.dropped_spans"])).toBeGreaterThan(5000);
  });
});

it("nothing is traced where nothing asks for it", () => {
  expect(tracesFrom({})).toBeUndefined();
  const away = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://x" };
  expect(tracesFrom({ ...away, OTEL_SDK_DISABLED: "true" })).toBeUndefined();
  expect(
    tracesFrom({ ...away, OTEL_TRACES_EXPORTER: "none", OTEL_METRICS_EXPORTER: "none" }),
  ).toBeUndefined();
  expect(urlOf("metrics", away)).toBe("http://x/v1/metrics");
  expect(urlOf("metrics", { ...away, OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: "http://y/m" })).toBe("http://y/m");
  expect(urlOf("traces", { OTEL_EXPORTER_OTLP_ENDPOINT: "http://x/base/" })).toBe("http://x/base/v1/traces");
  expect(urlOf("traces", { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://y/t" })).toBe("http://y/t");
  expect(urlOf("traces", { OTEL_EXPORTER_OTLP_ENDPOINT: "nonsense" })).toBeUndefined();
});
