import { BaseMessage } from "@langchain/core/messages";
import { DeltaSnapshot, isDeltaSnapshot } from "@langchain/langgraph-checkpoint";
import { isWalkable } from "./encode.ts";
import { isSend, MAX_DEPTH, sendFields, SerializedValue, toJson } from "./json.ts";

/**
 * Copies a value that is saved later, and that the graph may change until then. Messages are not copied: the encoder
 * recognises them by identity.
 */
export function frozenCopy(value: unknown, copies = new Map<object, object>(), depth = 0): unknown {
  if (typeof value !== "object" || value === null || BaseMessage.isInstance(value)) return value;
  const existing = copies.get(value);
  // A value that is too deep is refused when it is saved.
  if (existing || depth > MAX_DEPTH) return existing ?? value;
  const copy = copyOf(value);
  copies.set(value, copy);
  if (copy instanceof SerializedValue || copy instanceof Uint8Array) return copy;
  const parts = copy as Record<string | number, unknown>;
  for (const key of Array.isArray(copy) ? copy.keys() : Object.keys(copy)) {
    parts[key] = frozenCopy(parts[key], copies, depth + 1);
  }
  return copy;
}

/** A shallow copy of an object that is stored key by key; others are serialized. */
function copyOf(value: object): object {
  if (Array.isArray(value)) return [...(value as unknown[])];
  if (value instanceof Uint8Array) return new Uint8Array(value);
  if (isDeltaSnapshot(value)) return new DeltaSnapshot(value.value);
  if (isSend(value)) return sendFields(value);
  return isWalkable(value) ? { ...value } : new SerializedValue(toJson(value));
}
