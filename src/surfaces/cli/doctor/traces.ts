import type { Environment } from "../../../models/index.ts";
import { tracesUrl } from "../../../runs/traces/index.ts";
import type { Finding } from "./finding.ts";

/** Where traces go; nothing where none are asked for. */
export function tracesFindings(env: Environment): Finding[] {
  const names = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];
  const name = names.find((one) => env[one]);
  if (name === undefined) return [];
  const finding = { area: "traces", level: "note", tested: false } as const;
  const url = tracesUrl(env);
  if (url === undefined) {
    const fix = "Write an address, such as http://127.0.0.1:4318.";
    return [{ ...finding, text: `traces: none, since ${name} is no address`, fix }];
  }
  if (env["OTEL_SDK_DISABLED"]?.toLowerCase() === "true") {
    return [{ ...finding, text: "traces: none, since OTEL_SDK_DISABLED is set" }];
  }
  const isGrpc = new URL(url).port === "4317";
  const fix = "That is the usual port of gRPC; OTLP over HTTP is most often at 4318.";
  return [{ ...finding, text: `traces: posted to ${url} as OTLP/JSON (not tested)`, ...(isGrpc && { fix }) }];
}
