import { randomUUID } from "node:crypto";
import { attempt } from "../../errors.ts";
import type { Environment } from "../../models/index.ts";
import { version } from "../../version.ts";
import type { Destination, Sender } from "./collector.ts";
import type { Endpoint } from "./otlp.ts";

export type Signal = "traces" | "metrics";

/** The endpoint of a signal by OpenTelemetry's standard variables; undefined if it is not exported. */
export function destinationOf(signal: Signal, env: Environment): Destination | undefined {
  const url = urlOf(signal, env);
  if (url === undefined || switchedOffBy(signal, env) !== undefined) return undefined;
  const own = `OTEL_EXPORTER_OTLP_${signal.toUpperCase()}`;
  const timeoutMs = millisecondsIn(env[`${own}_TIMEOUT`] ?? env["OTEL_EXPORTER_OTLP_TIMEOUT"]);
  return {
    url,
    headers: { ...pairsIn(env["OTEL_EXPORTER_OTLP_HEADERS"]), ...pairsIn(env[`${own}_HEADERS`]) },
    timeoutMs,
  };
}

/** The configured address of a signal; undefined if it is missing or invalid. */
export function urlOf(signal: Signal, env: Environment): string | undefined {
  const own = env[`OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_ENDPOINT`];
  const base = env["OTEL_EXPORTER_OTLP_ENDPOINT"];
  const url = own || (base ? `${base.replace(/\/+$/, "")}/v1/${signal}` : undefined);
  return url !== undefined && URL.canParse(url) ? url : undefined;
}

/** The variable that switches a signal off; undefined if none does. */
export function switchedOffBy(signal: Signal, env: Environment): string | undefined {
  if (env["OTEL_SDK_DISABLED"]?.toLowerCase() === "true") return "OTEL_SDK_DISABLED";
  const exporter = `OTEL_${signal.toUpperCase()}_EXPORTER`;
  return env[exporter]?.trim().toLowerCase() === "none" ? exporter : undefined;
}

export function senderOf(env: Environment): Sender {
  const attributes = pairsIn(env["OTEL_RESOURCE_ATTRIBUTES"]);
  const name = env["OTEL_SERVICE_NAME"] || attributes["service.name"] || "holdfast";
  // An instance id, so that sums of several processes are kept apart.
  const instance = { "service.version": version(), "service.instance.id": randomUUID() };
  return { resource: { ...instance, ...attributes, "service.name": name }, version: version() };
}

/** The span that started this process, from `TRACEPARENT`: `00-<trace>-<span>-01`. */
export function placeIn(traceparent: string | undefined): Endpoint | undefined {
  const [, traceId, spanId] =
    /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}$/.exec(traceparent ?? "") ?? [];
  return traceId === undefined || spanId === undefined ? undefined : { traceId, spanId };
}

/** A positive number of milliseconds; undefined for any other text. */
export function millisecondsIn(text: string | undefined): number | undefined {
  const ms = Number(text);
  return text !== undefined && ms > 0 ? ms : undefined;
}

/** Reads `a=1,b=2`, with percent-encoded values. */
function pairsIn(text = ""): Record<string, string> {
  const pairs = text.split(",").flatMap((pair) => {
    const [, key, value] = /^\s*([^=]+?)\s*=\s*(.*?)\s*$/s.exec(pair) ?? [];
    return key === undefined || value === undefined
      ? []
      : [[key, attempt(() => decodeURIComponent(value)) ?? value] as const];
  });
  return Object.fromEntries(pairs);
}
