import type { Environment } from "../../models/index.ts";
import type { RunEvent } from "../events/index.ts";
import type { Prices } from "../view/index.ts";
import { destinationOf, millisecondsIn, placeIn, senderOf } from "./environment.ts";
import { OtlpMeter } from "./meter.ts";
import { OtlpTracer } from "./otlp.ts";
import { RunMetrics } from "./run-metrics.ts";
import { RunTrace } from "./run-trace.ts";

export { type Signal, switchedOffBy, urlOf } from "./environment.ts";
export { RunTrace } from "./run-trace.ts";
export type { Attributes, Span, Tracer } from "./span.ts";

/** Traces and metrics of runs. */
export interface Traces {
  /** Returns a function that is to be called with every event of a run. */
  run: (prices: Prices | undefined) => (event: RunEvent) => void;
  /** Sends the rest. */
  close: () => Promise<void>;
}

/** The exports configured by OpenTelemetry's standard variables; undefined if there are none. */
export function tracesFrom(env: Environment): Traces | undefined {
  const [traces, metrics] = [destinationOf("traces", env), destinationOf("metrics", env)];
  if (!traces && !metrics) return undefined;
  const sender = senderOf(env);
  const tracer = traces && new OtlpTracer({ ...sender, ...traces, parent: placeIn(env["TRACEPARENT"]) });
  const everyMs = millisecondsIn(env["OTEL_METRIC_EXPORT_INTERVAL"]);
  const meter = metrics && new OtlpMeter({ ...sender, ...metrics, everyMs: everyMs || undefined });
  const hasContent = env["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"]?.toLowerCase() === "true";
  return {
    run: (prices) => {
      const trace = tracer && new RunTrace({ tracer, prices, hasContent });
      const figures = meter && new RunMetrics(meter);
      return (event) => {
        trace?.follow(event);
        figures?.follow(event);
      };
    },
    close: async () => void (await Promise.all([tracer?.close(), meter?.close()])),
  };
}
