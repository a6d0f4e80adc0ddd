import type { Environment } from "../../models/index.ts";
import type { RunEvent } from "../events.ts";
import type { Prices } from "../prices.ts";
import { version } from "../version.ts";
import { OtlpTracer, type Place } from "./otlp.ts";
import { RunTrace } from "./run-trace.ts";
import type { Attributes } from "./span.ts";

/** Makes traces of runs. */
export interface Traces {
  /** Follows a run: what it returns is told every event of it. */
  run: (prices: Prices | undefined) => (event: RunEvent) => void;
  /** Sends what is left. */
  close: () => Promise<void>;
}

/** What the standard variables of OpenTelemetry ask for; undefined where they ask for nothing. */
export function tracesFrom(env: Environment): Traces | undefined {
  const url = tracesUrl(env);
  if (url === undefined || env["OTEL_SDK_DISABLED"]?.toLowerCase() === "true") return undefined;
  const tracer = new OtlpTracer({
    url,
    headers: {
      ...pairsIn(env["OTEL_EXPORTER_OTLP_HEADERS"]),
      ...pairsIn(env["OTEL_EXPORTER_OTLP_TRACES_HEADERS"]),
    },
    resource: resourceOf(env),
    version: version(),
    parent: placeIn(env["TRACEPARENT"]),
    ...timeoutOf(env["OTEL_EXPORTER_OTLP_TRACES_TIMEOUT"] ?? env["OTEL_EXPORTER_OTLP_TIMEOUT"]),
  });
  const hasContent = env["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"]?.toLowerCase() === "true";
  return {
    run: (prices) => {
      const trace = new RunTrace({ tracer, prices, hasContent });
      return (event) => trace.follow(event);
    },
    close: () => tracer.close(),
  };
}

/** Where traces are posted to, if anywhere. */
export function tracesUrl(env: Environment): string | undefined {
  const own = env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];
  const base = env["OTEL_EXPORTER_OTLP_ENDPOINT"];
  const url = own || (base ? `${base.replace(/\/+$/, "")}/v1/traces` : undefined);
  return url !== undefined && URL.canParse(url) ? url : undefined;
}

function resourceOf(env: Environment): Attributes {
  const given = pairsIn(env["OTEL_RESOURCE_ATTRIBUTES"]);
  const name = env["OTEL_SERVICE_NAME"] || given["service.name"] || "holdfast";
  return { "service.version": version(), ...given, "service.name": name };
}

/** `a=1,b=2`, with what is special in it encoded as in an address. */
function pairsIn(text = ""): Record<string, string> {
  const pairs = text.split(",").flatMap((pair) => {
    const [, key, value] = /^\s*([^=]+?)\s*=\s*(.*?)\s*$/s.exec(pair) ?? [];
    return key === undefined || value === undefined ? [] : [[key, decoded(value)] as const];
  });
  return Object.fromEntries(pairs);
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/** The span that started this process, as `TRACEPARENT` says it: `00-<trace>-<span>-01`. */
function placeIn(traceparent: string | undefined): Place | undefined {
  const [, traceId, spanId] =
    /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}$/.exec(traceparent ?? "") ?? [];
  return traceId === undefined || spanId === undefined ? undefined : { traceId, spanId };
}

function timeoutOf(text: string | undefined): { timeoutMs?: number } {
  const timeoutMs = Number(text);
  return text !== undefined && timeoutMs > 0 ? { timeoutMs } : {};
}
