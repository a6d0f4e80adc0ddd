import type { Environment } from "../../../models/index.ts";
import { switchedOffBy, urlOf, type Signal } from "../../../threads/traces/environment.ts";
import type { Finding } from "./finding.ts";

/** Where traces and metrics go; nothing where none are asked for. */
export function tracesFindings(env: Environment): Finding[] {
  return (["traces", "metrics"] as const).flatMap((signal) => findingsOf(signal, env));
}

function findingsOf(signal: Signal, env: Environment): Finding[] {
  const names = [`OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_ENDPOINT`, "OTEL_EXPORTER_OTLP_ENDPOINT"];
  const name = names.find((one) => env[one]);
  if (name === undefined) return [];
  const finding = { area: "traces", level: "note", tested: false } as const;
  const off = switchedOffBy(signal, env);
  if (off !== undefined) return [{ ...finding, text: `${signal}: none, since ${off} says so` }];
  const url = urlOf(signal, env);
  if (url === undefined) {
    const fix = "Write an address, such as http://127.0.0.1:4318.";
    return [{ ...finding, text: `${signal}: none, since ${name} is no address`, fix }];
  }
  const isGrpc = new URL(url).port === "4317";
  const fix = "That is the usual port of gRPC; OTLP over HTTP is most often at 4318.";
  return [
    { ...finding, text: `${signal}: posted to ${url} as OTLP/JSON (not tested)`, ...(isGrpc && { fix }) },
  ];
}
