import { each, firstOf, type Json } from "./wire.ts";

/** Keywords of JSON Schema that contain schemas, by the form of their value. */
const MAPS = ["properties", "$defs", "definitions", "patternProperties"];
const LISTS = ["anyOf", "oneOf", "allOf", "prefixItems"];
const SINGLES = ["items", "additionalProperties", "not", "propertyNames"];

/** Checks what all providers require of a tool's JSON Schema: it is an object, and its references resolve. */
export function schemaRefusal(schema: Json, name: string): string | undefined {
  const front = `Invalid schema for function '${name}'`;
  if (schema === null || typeof schema !== "object") return `${front}: schema must be a JSON Schema.`;
  if (schema.type !== "object")
    return `${front}: schema must be a JSON Schema of 'type: "object"', got 'type: "${schema.type}"'.`;
  return subschemas(schema, (part, path) => {
    if (part.type === "array" && part.items === undefined && part.prefixItems === undefined)
      return `${front}: In context=(${path}), array schema missing items.`;
    if (typeof part.$ref === "string" && pointed(schema, part.$ref) === undefined)
      return `${front}: In context=(${path}), reference to component '${part.$ref}' which was not found in the schema.`;
    return undefined;
  });
}

/** Runs a check on a schema and all its subschemas. */
function subschemas(
  part: Json,
  look: (part: Json, path: string) => string | undefined,
  path = "",
): string | undefined {
  if (part === null || typeof part !== "object") return undefined;
  const inner = (value: Json, key: string) => () => subschemas(value, look, `${path}/${key}`);
  return firstOf(
    () => look(part, path),
    ...MAPS.flatMap((key) =>
      Object.entries(part[key] ?? {}).map(([name, value]) => inner(value, `${key}/${name}`)),
    ),
    ...LISTS.flatMap((key) => ((part[key] ?? []) as Json[]).map((value, at) => inner(value, `${key}/${at}`))),
    ...SINGLES.map((key) => inner(part[key], key)),
  );
}

function pointed(schema: Json, ref: string): Json {
  if (!ref.startsWith("#")) return undefined;
  return ref
    .slice(1)
    .split("/")
    .filter(Boolean)
    .reduce((at, key) => at?.[key.replaceAll("~1", "/").replaceAll("~0", "~")], schema);
}

/** Fields of Gemini's `Schema`, a subset of OpenAPI 3.0. */
const GEMINI_FIELDS = new Set(
  "type format title description nullable enum maxItems minItems properties required minProperties maxProperties minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum".split(
    " ",
  ),
);
const GEMINI_TYPES = ["STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"];

/** Checks Gemini's rules for the parameters of a function. */
export function geminiRefusal(schema: Json, path: string): string | undefined {
  const front = "Invalid JSON payload received.";
  if (schema === null || typeof schema !== "object") return `${front} Invalid value at '${path}'.`;
  const unknown = Object.keys(schema).find((key) => !GEMINI_FIELDS.has(key));
  if (unknown !== undefined) return `${front} Unknown name "${unknown}" at '${path}': Cannot find field.`;
  const { type, items, required = [], properties = {}, anyOf = [] } = schema;
  if (Array.isArray(type))
    return `${front} Unknown name "type" at '${path}': Proto field is not repeating, cannot start list.`;
  if (type !== undefined && !GEMINI_TYPES.includes(String(type).toUpperCase()))
    return `Invalid value at '${path}.type': "${type}"`;
  if (type === undefined && anyOf.length === 0) return `${path}: type must be specified.`;
  if (String(type).toUpperCase() === "ARRAY" && items === undefined) return `${path}.items: missing field.`;
  const strange = (schema.enum ?? []).find((value: Json) => typeof value !== "string");
  if (strange !== undefined)
    return `Invalid value at '${path}.enum' (TYPE_STRING), ${JSON.stringify(strange)}`;
  if (schema.enum && String(type).toUpperCase() !== "STRING")
    return `${path}.enum: only allowed for STRING type.`;
  const missing = required.find((key: string) => !Object.hasOwn(properties, key));
  if (missing !== undefined) return `${path}.required: property is not defined: ${missing}`;
  return firstOf(
    () =>
      each(Object.entries(properties), ([key, value]) => geminiRefusal(value, `${path}.properties[${key}]`)),
    () => each(anyOf as Json[], (value, at) => geminiRefusal(value, `${path}.any_of[${at}]`)),
    () => (items === undefined ? undefined : geminiRefusal(items, `${path}.items`)),
  );
}
