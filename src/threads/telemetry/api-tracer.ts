import type * as OpenTelemetry from "@opentelemetry/api";
import { HarnessError } from "../../errors.ts";
import type { Attributes, Span, Tracer } from "../traces/index.ts";

/** A tracer on top of `@opentelemetry/api`. Root spans become children of the span that is active now. */
export async function apiTracer(tracer: OpenTelemetry.Tracer): Promise<Tracer> {
  const { context, trace, SpanKind, SpanStatusCode } = await loadApi();
  const active = context.active();
  const spans = new WeakMap<Span, OpenTelemetry.Span>();
  return {
    start: (name, { at, attributes = {}, parent, isCall = false }) => {
      const above = parent && spans.get(parent);
      const one = tracer.startSpan(
        name,
        {
          startTime: at,
          kind: isCall ? SpanKind.CLIENT : SpanKind.INTERNAL,
          attributes: plain(attributes),
        },
        above ? trace.setSpan(active, above) : active,
      );
      const span: Span = {
        set: (more) => void one.setAttributes(plain(more)),
        note: (what, when, more = {}) => void one.addEvent(what, plain(more), when),
        fail: (message) => void one.setStatus({ code: SpanStatusCode.ERROR, message }),
        end: (when) => one.end(Math.max(at, when)),
      };
      spans.set(span, one);
      return span;
    },
  };
}

async function loadApi(): Promise<typeof OpenTelemetry> {
  try {
    return await import("@opentelemetry/api");
  } catch (cause) {
    const text =
      "Tracing needs the package @opentelemetry/api. Install it with: npm install @opentelemetry/api";
    throw new HarnessError("missing-package", text, { cause });
  }
}

function plain(attributes: Attributes): OpenTelemetry.Attributes {
  return Object.fromEntries(
    Object.entries(attributes).map(([key, value]) => [
      key,
      typeof value === "object" ? value.fraction : value,
    ]),
  );
}
