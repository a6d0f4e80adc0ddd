import root from "@opentelemetry/otlp-transformer/build/src/generated/root.js";
import { expect } from "vitest";

export const SIGNALS = ["traces", "metrics"] as const;

interface Type {
  fromObject: (value: unknown) => object;
  verify: (message: object) => string | null;
  encode: (message: object) => { finish: () => Uint8Array };
  decode: (bytes: Uint8Array) => object;
  toObject: (message: object, how: object) => object;
}
type Enumeration = Record<string, number>;

/** What is generated of the `.proto` files of OpenTelemetry. */
const { collector, trace, metrics } = (
  root as unknown as {
    opentelemetry: {
      proto: {
        collector: {
          trace: { v1: { ExportTraceServiceRequest: Type } };
          metrics: { v1: { ExportMetricsServiceRequest: Type } };
        };
        trace: { v1: { Span: { SpanKind: Enumeration }; Status: { StatusCode: Enumeration } } };
        metrics: { v1: { AggregationTemporality: Enumeration } };
      };
    };
  }
).opentelemetry.proto;

const TYPES = {
  traces: collector.trace.v1.ExportTraceServiceRequest,
  metrics: collector.metrics.v1.ExportMetricsServiceRequest,
};

export const { SpanKind } = trace.v1.Span;
export const { StatusCode } = trace.v1.Status;
export const { AggregationTemporality } = metrics.v1;

/**
 * OTLP/JSON as the official types understand it: read, written in the binary form, read again. What they do not know is
 * missing from it, and what is not of their type comes back as another value. Lists that are empty are left out.
 */
export function asOfficiallyRead(signal: (typeof SIGNALS)[number], json: string): unknown {
  const type = TYPES[signal];
  // Ids are hexadecimal in OTLP/JSON, unlike other bytes in JSON.
  const message = type.fromObject(JSON.parse(json, recodeIds("hex", "base64")));
  const problem = type.verify(message);
  if (problem !== null) return problem;
  const read = type.toObject(type.decode(type.encode(message).finish()), { longs: String, bytes: String });
  return JSON.parse(JSON.stringify(read), recodeIds("base64", "hex"));
}

/** Nothing was posted that the official types do not know, or know as something else. */
export function expectOfficialTypes({
  requests,
}: {
  requests: { body: unknown; officially: unknown }[];
}): void {
  for (const { body, officially } of requests) expect(officially).toEqual(withoutEmptyLists(body));
}

function withoutEmptyLists(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_key, one: unknown) =>
    Array.isArray(one) && one.length === 0 ? undefined : one,
  );
}

function recodeIds(from: BufferEncoding, to: BufferEncoding) {
  return (key: string, value: unknown): unknown =>
    IDS.includes(key) && typeof value === "string" ? Buffer.from(value, from).toString(to) : value;
}

const IDS = ["traceId", "spanId", "parentSpanId"];
