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
/** The number of characters in a body's metadata: a thread's metadata is written and searched at once. */
const MOST_METADATA_TEXT = 100_000;
/** The number of characters in an id. */
const MOST_ID_TEXT = 255;
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

/** A list of ids in a body, each once. Answers 422 for anything else, and for a list or an id that is too long. */
export function idList(name: string, value: unknown): string[] {
  const ids = new Set(shortList(name, value).map(String));
  for (const id of ids) checkId(id);
  return [...ids];
}

/** Answers 422 for an id that is too long to be looked up. */
export function checkId(id: string): void {
  if (id.length > MOST_ID_TEXT) refuse(422, `An id has more than ${MOST_ID_TEXT} characters.`);
}

/** The metadata in a body; empty without any. Answers 422 for anything but an object of a moderate size. */
export function metadataOf({ metadata }: Record<string, unknown>): Record<string, unknown> {
  if (metadata === undefined || metadata === null) return {};
  if (!isRecord(metadata)) refuse(422, "metadata is no JSON object.");
  const { values, text } = sizeOf(metadata, MOST_METADATA);
  if (values > MOST_METADATA) refuse(422, `metadata has more than ${MOST_METADATA} values.`);
  if (text > MOST_METADATA_TEXT) refuse(422, `metadata has more than ${MOST_METADATA_TEXT} characters.`);
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

/** The number of values in a value, at any depth, counted to a little more than `most`, and the length of their texts. */
function sizeOf(value: unknown, most: number): { values: number; text: number } {
  let [values, text] = [0, 0];
  const waiting = [value];
  while (waiting.length > 0 && values <= most) {
    const next = waiting.pop();
    if (typeof next === "string") text += next.length;
    if (typeof next !== "object" || next === null) continue;
    const parts = Object.entries(next);
    values += parts.length;
    for (const [key, part] of parts) {
      text += Array.isArray(next) ? 0 : key.length;
      waiting.push(part);
    }
  }
  return { values, text };
}
