import { attempt } from "../../../errors.ts";
import { isRecord } from "../../../plan/read/index.ts";
import { refuse } from "./answers.ts";
import type { ServerContext } from "./context.ts";

/** Recursive serializers overflow the stack on deeper values. */
const MOST_DEPTH = 500;
/** The number of values in a body: reading more would keep other requests waiting. */
const MOST_VALUES = 50_000;
/** The number of values in a body's metadata, at any depth. */
const MOST_METADATA = 1000;
/** The longest list of ids or runs in a body. */
const MOST_LISTED = 1000;

/** The JSON object in a request; empty without a body. Answers 400 for anything else. */
export async function body(c: ServerContext): Promise<Record<string, unknown>> {
  const text = await c.req.text();
  if (text.trim() === "") return {};
  const value = parse(text);
  if (isRecord(value)) return value;
  refuse(400, "The body is no JSON object.");
}

/** The JSON list in a request. Answers 400 for anything else. */
export async function listBody(c: ServerContext): Promise<unknown[]> {
  const value = parse(await c.req.text());
  if (!Array.isArray(value)) refuse(400, "The body is no JSON list.");
  return shortList("The body", value);
}

/** A list in a body. Answers 422 for anything else, and for one that is too long. */
export function shortList(name: string, value: unknown): unknown[] {
  if (!Array.isArray(value)) refuse(422, `${name} is no list.`);
  if (value.length > MOST_LISTED) refuse(422, `${name} has more than ${MOST_LISTED} entries.`);
  return value;
}

/** The metadata in a body; empty without any. Answers 422 for anything but an object of a moderate size. */
export function metadataOf({ metadata }: Record<string, unknown>): Record<string, unknown> {
  if (metadata === undefined || metadata === null) return {};
  if (!isRecord(metadata)) refuse(422, "metadata is no JSON object.");
  if (isLarger(metadata, MOST_METADATA)) refuse(422, `metadata has more than ${MOST_METADATA} values.`);
  return metadata;
}

/** Parses a body; undefined for anything but JSON. Its size is checked before, as parsing takes longer. */
function parse(text: string): unknown {
  checkSize(text);
  return attempt(() => JSON.parse(text) as unknown);
}

const QUOTE = 34;
const COMMA = 44;
const OPENING_BRACKET = 91;
const BACKSLASH = 92;
const CLOSING_BRACKET = 93;
const OPENING_BRACE = 123;
const CLOSING_BRACE = 125;

/** Answers 422 for a JSON text with too many values or levels: lists, objects, and their entries count. */
function checkSize(text: string): void {
  let [depth, values] = [0, 1];
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        break;
      case OPENING_BRACKET:
      case OPENING_BRACE:
        depth += 1;
        values += 1;
        if (depth > MOST_DEPTH) refuse(422, `The body is more than ${MOST_DEPTH} levels deep.`);
        break;
      case CLOSING_BRACKET:
      case CLOSING_BRACE:
        depth -= 1;
        break;
      case COMMA:
        values += 1;
        if (values > MOST_VALUES) refuse(422, `The body has more than ${MOST_VALUES} values.`);
        break;
    }
  }
}

/** The index of the quote that ends a string; the end of the text if none does. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === BACKSLASH) at += 1;
  }
  return text.length;
}

/** Whether a value has more than `most` values in it, at any depth. */
function isLarger(value: unknown, most: number): boolean {
  let count = 0;
  const waiting = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next !== "object" || next === null) continue;
    const parts = Object.values(next);
    count += parts.length;
    if (count > most) return true;
    waiting.push(...parts);
  }
  return false;
}
