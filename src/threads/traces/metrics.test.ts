import { AIMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Collector } from "../../../test/helpers/telemetry/collector.ts";
import { AggregationTemporality, expectOfficialTypes } from "../../../test/helpers/telemetry/otlp.ts";
import { tracedRun } from "../../../test/helpers/telemetry/traced-run.ts";
import { createDeepAgent } from "../../deep/index.ts";
import { callTool, type ScriptedModel, type Step } from "../../testing/index.ts";
import type { RunAgent } from "../prepare/agent.ts";
import { tracesFrom } from "./index.ts";
import { OtlpMeter } from "./meter.ts";

interface Point {
  attributes: { key: string; value: object }[];
  asInt?: string;
  count?: string;
  sum?: number;
  bucketCounts?: string[];
  explicitBounds?: number[];
}
interface Metric {
  name: string;
  unit: string;
  sum?: { dataPoints: Point[]; aggregationTemporality: number; isMonotonic: boolean };
  histogram?: { dataPoints: Point[]; aggregationTemporality: number };
}

let collector: Collector;

beforeEach(async () => {
  collector = new Collector();
  await collector.start();
});
afterEach(() => collector.stop());

/** The figures of the last request, by name. */
function figures(): Record<string, Metric> {
  expectOfficialTypes(collector);
  const { body } = collector.requests.findLast(({ url }) => url.endsWith("/metrics"))!;
  const { resourceMetrics } = body as { resourceMetrics: { scopeMetrics: { metrics: Metric[] }[] }[] };
  const { metrics } = resourceMetrics[0]!.scopeMetrics[0]!;
  return Object.fromEntries(metrics.map((metric) => [metric.name, metric]));
}

async function measured(
  steps: Step[],
  env: Record<string, string> = {},
  createAgent?: (model: ScriptedModel) => RunAgent,
): Promise<Record<string, Metric>> {
  const base = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, OTEL_EXPORTER_OTLP_TIMEOUT: "120000" };
  await tracedRun(steps, { ...base, ...env }, createAgent);
  return figures();
}

/** A count or a number of values for each set of attributes, with those that are asked for. */
function pointsOf({ sum, histogram }: Metric, ...keys: string[]): Record<string, number> {
  const points = (sum ?? histogram)!.dataPoints.map(({ attributes, asInt, count }) => {
    const told = new Map(attributes.map(({ key, value }) => [key, String(Object.values(value)[0])]));
    return [keys.map((key) => told.get(key) ?? "-").join(" "), Number(asInt ?? count)] as const;
  });
  return Object.fromEntries(points);
}

const SCRIPT: Step[] = [
  [callTool("write_todos", { todos: ["One", "Two"] }), callTool("ls", { path: "/" })],
  callTool("task", { description: "Look around", subagent_type: "general-purpose" }),
  "Nothing there.",
  callTool("read_file", { file_path: "/none" }),
  "All done.",
  callTool("update_todos", { done: ["1", "2"], note: "by hand" }),
  "Done.",
];

it("a run is counted: turns, tokens, the time of models and tools, reminders", async () => {
  const metrics = await measured(SCRIPT);
  expect(pointsOf(metrics["holdfast.turns"]!, "gen_ai.agent.name", "gen_ai.request.model")).toEqual({
    "holdfast gpt-x": 6,
    "general-purpose gpt-x": 1,
  });
  expect(metrics["gen_ai.client.token.usage"], "the model has not told").toBeUndefined();
  expect(
    pointsOf(metrics["gen_ai.client.operation.duration"]!, "gen_ai.operation.name", "error.type"),
  ).toEqual({ "chat -": 7 });
  expect(pointsOf(metrics["holdfast.tool.duration"]!, "gen_ai.tool.name", "error.type")).toEqual({
    "write_todos -": 1,
    "ls -": 1,
    "task -": 1,
    "read_file _OTHER": 1,
    "update_todos -": 1,
  });
  expect(pointsOf(metrics["holdfast.reminders"]!, "holdfast.reminder.name")).toEqual({
    todo_completion_reminder: 1,
  });
});

it("histograms have the bounds of the conventions, and sums count from process start", async () => {
  const usage_metadata = { input_tokens: 100, output_tokens: 4, total_tokens: 104 };
  const metrics = await measured([Object.assign(new AIMessage("Done."), { usage_metadata })]);
  const { histogram, unit } = metrics["gen_ai.client.token.usage"]!;
  expect(unit).toBe("{token}");
  expect(histogram!.dataPoints).toMatchObject([
    { count: "1", sum: 100, min: 100, max: 100 },
    { count: "1", sum: 4, min: 4, max: 4 },
  ]);
  const types = pointsOf(metrics["gen_ai.client.token.usage"]!, "gen_ai.token.type");
  expect(types).toEqual({ input: 1, output: 1 });
  // A bound belongs to the bucket below it.
  expect(histogram!.dataPoints[1]!.bucketCounts!.slice(0, 3)).toEqual(["0", "1", "0"]);
  for (const { bucketCounts, explicitBounds, count } of histogram!.dataPoints) {
    expect(explicitBounds!.slice(0, 4)).toEqual([1, 4, 16, 64]);
    expect(explicitBounds!.at(-1)).toBe(67_108_864);
    expect(bucketCounts).toHaveLength(explicitBounds!.length + 1);
    expect(bucketCounts!.reduce((all, one) => all + Number(one), 0)).toBe(Number(count));
  }
  expect(metrics["gen_ai.client.operation.duration"]!.histogram!.dataPoints[0]!.explicitBounds).toEqual([
    0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
  ]);
  const cumulative = AggregationTemporality["AGGREGATION_TEMPORALITY_CUMULATIVE"];
  expect(histogram!.aggregationTemporality).toBe(cumulative);
  expect(metrics["holdfast.turns"]!.sum).toMatchObject({
    aggregationTemporality: cumulative,
    isMonotonic: true,
  });
});

it("a completion that a verifier refuses is counted", async () => {
  let asked = 0;
  const verify = (): string | true => ((asked += 1) === 1 ? "no test was run" : true);
  const steps = [
    callTool("write_todos", { todos: ["One", "Two"] }),
    callTool("update_todos", { done: ["1"], note: "by hand" }),
    callTool("update_todos", { done: ["1", "2"], note: "by hand" }),
    "Done.",
  ];
  const metrics = await measured(steps, {}, (model) => {
    return createDeepAgent({ model, plan: { verify }, checkpointer: new MemorySaver() }) as never;
  });
  expect(pointsOf(metrics["holdfast.refused_completions"]!, "gen_ai.agent.name")).toEqual({ holdfast: 1 });
});

it("a model call that failed is timed as one", async () => {
  const metrics = await measured([new Error("broken")]);
  expect(pointsOf(metrics["gen_ai.client.operation.duration"]!, "error.type")).toEqual({ _OTHER: 1 });
});

it("metrics can be left out, or go elsewhere than traces", async () => {
  const base = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint };
  await tracedRun(["Done."], { ...base, OTEL_METRICS_EXPORTER: "none" });
  await tracedRun(["Done."], { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${collector.endpoint}/own/metrics` });
  expect(collector.requests.map(({ url }) => url)).toEqual(["/v1/traces", "/own/metrics"]);
});

it("an unreachable collector ends no run, and later gets all metrics", async () => {
  collector.answer = "an error";
  const traces = tracesFrom({
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${collector.endpoint}/v1/metrics`,
  })!;
  const tell = traces.run(undefined);
  const head = { version: 1, at: 1, thread: "t", owner: "main" } as const;
  const usage = { inputTokens: 1, outputTokens: 1, cachedTokens: 0 };
  tell({ ...head, type: "model-end", text: "", usage });
  await traces.close();
  collector.answer = "at once";
  tell({ ...head, type: "model-end", text: "", usage });
  await traces.close();
  expect(collector.requests).toHaveLength(2);
  expect(figures()["holdfast.turns"]!.sum!.dataPoints[0]!.asInt).toBe("2");
  // Nothing is new.
  await traces.close();
  expect(collector.requests).toHaveLength(2);
});

it("names without end are counted together", async () => {
  const meter = new OtlpMeter({
    url: `${collector.endpoint}/v1/metrics`,
    resource: {},
    version: "0",
    timeoutMs: 120_000,
  });
  const made = { name: "made.up", description: "", unit: "1" };
  for (let n = 0; n < 5000; n += 1) meter.record(made, { name: `tool ${n}` }, 1);
  await meter.close();
  const { dataPoints } = figures()["made.up"]!.sum!;
  expect(dataPoints).toHaveLength(1001);
  expect(dataPoints.at(-1)).toMatchObject({
    attributes: [{ key: "otel.metric.overflow", value: { boolValue: true } }],
    asInt: "4000",
  });
});
