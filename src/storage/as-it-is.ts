import { MAX_DEPTH } from "./json.ts";

/**
 * Lists and records as they are now, for a value that is saved later: who merges it into the state may change it. All
 * else in it, such as messages, is the same.
 */
export function asItIs(value: unknown, copies = new Map<object, object>(), depth = 0): unknown {
  if (!isPlain(value)) return value;
  const known = copies.get(value);
  // One that is too deep is refused when it is saved.
  if (known || depth > MAX_DEPTH) return known ?? value;
  const copy = Array.isArray(value) ? [...(value as unknown[])] : { ...value };
  copies.set(value, copy);
  for (const [key, item] of Object.entries(copy)) {
    if (isPlain(item)) (copy as Record<string, unknown>)[key] = asItIs(item, copies, depth + 1);
  }
  return copy;
}

function isPlain(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === Array.prototype || prototype === null;
}
