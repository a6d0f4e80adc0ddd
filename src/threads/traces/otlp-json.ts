import type { Attribute, Attributes } from "./span.ts";

/** The resource that sends: `service.name` and other attributes. */
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

/** Merges attributes; later ones replace earlier ones. */
export function keyValues(...attributes: readonly Attributes[]): object[] {
  const found: object[] = [];
  for (const [key, value] of Object.entries(Object.assign({}, ...attributes) as Attributes)) {
    if (value !== undefined) found.push({ key, value: anyValue(value) });
  }
  return found;
}

function anyValue(value: Attribute): object {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "object") return { doubleValue: value.fraction };
  return { intValue: String(Math.round(value)) };
}
