import { BaseMessage } from "@langchain/core/messages";
import { isDeltaSnapshot } from "@langchain/langgraph-checkpoint";
import { isWalkable } from "./encode.ts";
import { isSend, MAX_DEPTH, sendFields, toJson, Written } from "./json.ts";

/**
 * A value as it is now, for it is saved later, and who merges it into the state may change it. Messages are the same
 * ones: by that it is known where they are stored.
 */
export function asItIs(value: unknown, copies = new Map<object, object>(), depth = 0): unknown {
  if (!isObject(value) || BaseMessage.isInstance(value) || isDeltaSnapshot(value)) return value;
  const known = copies.get(value);
  // One that is too deep is refused when it is saved.
  if (known || depth > MAX_DEPTH) return known ?? value;
  const copy = copyOf(value);
  copies.set(value, copy);
  if (copy instanceof Written || copy instanceof Uint8Array) return copy;
  for (const [key, item] of Object.entries(copy) as [string, unknown][]) {
    if (isObject(item)) (copy as Record<string, unknown>)[key] = asItIs(item, copies, depth + 1);
  }
  return copy;
}

/** What is stored in parts is copied in parts, and all else is written out. */
function copyOf(value: object): object {
  if (Array.isArray(value)) return [...(value as unknown[])];
  if (value instanceof Uint8Array) return new Uint8Array(value);
  if (isSend(value)) return sendFields(value);
  return isWalkable(value) ? { ...value } : new Written(toJson(value));
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
