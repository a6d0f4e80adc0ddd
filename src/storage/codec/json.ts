import { isDeltaSnapshot } from "@langchain/langgraph-checkpoint";
import { HarnessError } from "../../errors.ts";

/** The nesting limit, far below the size of the stack. */
export const MAX_DEPTH = 500;

export function tooDeep(options?: ErrorOptions): HarnessError {
  return new HarnessError(
    "invalid-request",
    `The state has a value that is nested more than ${MAX_DEPTH} deep, which no checkpoint can hold.`,
    options,
  );
}

export const UNDEFINED = '{"lc":2,"type":"undefined"}';

export class SerializedValue {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/**
 * Serializes a value as LangGraph's `JsonPlusSerializer` does, but synchronously: a checkpoint must be taken at the moment
 * it is handed over. A reference back to an enclosing object becomes `"[Circular]"`, as there.
 */
export function toJson(value: unknown): string {
  if (value instanceof SerializedValue) return value.text;
  try {
    return write(value);
  } catch (error) {
    // A message writes its own fields out first, all the way down.
    throw error instanceof RangeError ? tooDeep({ cause: error }) : error;
  }
}

function write(value: unknown): string {
  const path: { source: object; plain: object }[] = [];
  const text: string | undefined = JSON.stringify(
    value,
    function replace(this: unknown, _key, item: unknown) {
      if (typeof item !== "object" || item === null) return item === undefined ? JSON.parse(UNDEFINED) : item;
      while (path.length > 0 && path.at(-1)?.plain !== this) path.pop();
      if (path.some(({ source }) => source === item)) return "[Circular]";
      if (path.length > MAX_DEPTH) throw tooDeep();
      const plain = toPlain(item);
      path.push({ source: item, plain });
      return plain;
    },
  );
  return text ?? "null";
}

function toPlain(item: object): object {
  if (isDeltaSnapshot(item)) return { lc: 2, type: "delta_snapshot", value: item.value };
  if (item instanceof Set) return construction("Set", [[...item]]);
  if (item instanceof Map) return construction("Map", [[...item]]);
  if (item instanceof RegExp) return construction("RegExp", [item.source, item.flags]);
  if (item instanceof Error) return construction("Error", [item.message]);
  if (item instanceof Uint8Array) return { ...construction("Uint8Array", [[...item]]), method: "from" };
  return isSend(item) ? sendFields(item) : item;
}

function construction(name: string, args: unknown[]): object {
  return { lc: 2, type: "constructor", id: [name], method: null, args, kwargs: {} };
}

export interface SendLike {
  node: string;
  args: unknown;
  timeout?: unknown;
}

/** A `Send` of LangGraph, whichever copy of the package it comes from. */
export function isSend(value: object): value is SendLike {
  return "lg_name" in value && value.lg_name === "Send";
}

export function sendFields({ node, args, timeout }: SendLike): SendLike {
  return { node, args, ...(timeout !== undefined && { timeout }) };
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
