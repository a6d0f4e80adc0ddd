import type { Attribute, Attributes } from "./span.ts";

/** Who sends: `service.name` and whatever else. */
export interface Sender {
  resource: Attributes;
  version: string;
}

export function scopeOf({ version }: Sender): object {
  return { name: "holdfast", version };
}

/** 64-bit numbers are texts in OTLP/JSON. */
export function nanoseconds(ms: number): string {
  return `${Math.round(ms)}000000`;
}

export function keyValues(attributes: Attributes): object[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : { key, value: anyValue(value) },
  );
}

function anyValue(value: Attribute): object {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "object") return { doubleValue: value.fraction };
  return { intValue: String(Math.round(value)) };
}
