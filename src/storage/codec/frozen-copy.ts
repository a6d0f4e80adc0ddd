import { BaseMessage } from "@langchain/core/messages";
import { DeltaSnapshot, isDeltaSnapshot } from "@langchain/langgraph-checkpoint";
import { isWalkable } from "./encode.ts";
import { isSend, MAX_DEPTH, sendFields, toJson, Written } from "./json.ts";

/**
 * A value as it is now, for it is saved later, and who merges it into the state may change it. Messages are the same
 * ones: by that it is known where they are stored.
 */
export function asItIs(value: unknown, copies = new Map<object, object>(), depth = 0): unknown {
  if (typeof value !== "object" || value === null || BaseMessage.isInstance(value)) return value;
  const known = copies.get(value);
  // One that is too deep is refused when it is saved.
  if (known || depth > MAX_DEPTH) return known ?? value;
  const copy = copyOf(value);
  copies.set(value, copy);
  if (copy instanceof Written || copy instanceof Uint8Array) return copy;
  const parts = copy as Record<string | number, unknown>;
  for (const key of Array.isArray(copy) ? copy.keys() : Object.keys(copy)) {
    parts[key] = asItIs(parts[key], copies, depth + 1);
  }
  return copy;
}

/** What is stored in parts is copied in parts, and all else is written out. */
function copyOf(value: object): object {
  if (Array.isArray(value)) return [...(value as unknown[])];
  if (value instanceof Uint8Array) return new Uint8Array(value);
  if (isDeltaSnapshot(value)) return new DeltaSnapshot(value.value);
  if (isSend(value)) return sendFields(value);
  return isWalkable(value) ? { ...value } : new Written(toJson(value));
}
