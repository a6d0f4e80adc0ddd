/** The parts of a request to Gemini that are changed here. */
interface GeminiRequest {
  contents?: Content[];
  tools?: { functionDeclarations?: { parameters?: Schema }[] }[];
}

interface Content {
  role?: string;
  parts?: { functionResponse?: unknown }[];
}

type Schema = Record<string, unknown>;

/**
 * Adapts a request to Gemini. LangChain's client sends each tool result of a turn in its own content, where Gemini
 * wants all in one. It also sends JSON Schemas unchanged, where Gemini takes a part of OpenAPI's schema and refuses
 * other fields.
 */
export function geminiRequest(request: unknown): unknown {
  const { contents, tools } = request as GeminiRequest;
  return {
    ...(request as object),
    ...(contents && { contents: joinedResults(contents) }),
    ...(tools && {
      tools: tools.map(({ functionDeclarations: list, ...tool }) => ({
        ...tool,
        functionDeclarations: list
          ? list.map(({ parameters, ...one }) => ({
              ...one,
              parameters: parameters ? reduced(parameters, parameters) : undefined,
            }))
          : undefined,
      })),
    }),
  };
}

function joinedResults(contents: readonly Content[]): Content[] {
  const holdsResults = ({ parts = [] }: Content): boolean =>
    parts.length > 0 && parts.every((part) => part.functionResponse);
  const joined: Content[] = [];
  for (const content of contents) {
    const last = joined.at(-1);
    if (last && holdsResults(last) && holdsResults(content))
      joined[joined.length - 1] = { ...last, parts: [...last.parts!, ...content.parts!] };
    else joined.push(content);
  }
  return joined;
}

/** Fields that mean the same in Gemini's schema. */
const COMMON_FIELDS =
  "title description nullable maxItems minItems minProperties maxProperties minLength maxLength pattern example default minimum maximum".split(
    " ",
  );
/** Formats of Gemini's strings and numbers. */
const FORMATS = ["enum", "date-time", "int32", "int64", "float", "double"];
/** The nesting limit of a definition inside itself. */
const MOST_REFERENCES = 3;

/** Translates a JSON Schema to Gemini's. Drops what that cannot express, as the tool itself checks its arguments. */
function reduced(part: unknown, root: Schema, references = 0): Schema {
  if (typeof part !== "object" || part === null) return { type: "string" };
  const schema = part as Schema;
  const { $ref: ref, ...siblings } = schema;
  if (typeof ref === "string") {
    const target = references < MOST_REFERENCES ? pointed(root, ref) : undefined;
    return reduced({ ...(target ?? { type: "object" }), ...siblings }, root, references + 1);
  }
  const inner = (child: unknown): Schema => reduced(child, root, references);
  const listOf = (key: string): Schema[] => (Array.isArray(schema[key]) ? (schema[key] as Schema[]) : []);
  const whole = listOf("allOf").reduce<Schema>((all, one) => merged(all, resolved(one, root)), schema);
  const choices = [...listOf("anyOf"), ...listOf("oneOf")];
  const types = [whole["type"] ?? []].flat() as string[];
  const isNull = (one: Schema): boolean => one["type"] === "null" || one["const"] === null;
  const values = whole["const"] === undefined ? whole["enum"] : [whole["const"]];
  const isNullable =
    types.includes("null") || choices.some(isNull) || (Array.isArray(values) && values.includes(null));
  const common: Schema = {
    ...picked(whole, COMMON_FIELDS),
    ...(FORMATS.includes(whole["format"] as string) && { format: whole["format"] }),
    ...(isNullable && { nullable: true }),
  };
  const real = types.filter((type) => type !== "null");
  const others =
    real.length > 1 ? real.map((type) => ({ ...picked(whole, ["items", "properties"]), type })) : choices;
  const alternatives = others.filter((one) => !isNull(one)).map(inner);
  if (alternatives.length === 1) return { ...alternatives[0], ...common };
  if (alternatives.length > 1 && whole["properties"] === undefined) return { ...common, anyOf: alternatives };
  if (Array.isArray(values)) return { ...common, ...enumerated(values.filter((value) => value !== null)) };
  return { ...common, ...structure(whole, real[0] ?? kindOf(whole), inner) };
}

function structure(schema: Schema, type: string, inner: (part: unknown) => Schema): Schema {
  const { items, prefixItems, properties, required } = schema;
  if (type === "array") {
    const first: unknown = Array.isArray(prefixItems) ? prefixItems[0] : undefined;
    return { type, items: inner(Array.isArray(items) ? items[0] : (items ?? first)) };
  }
  if (type !== "object") return { type };
  const fields = Object.entries((properties ?? {}) as Schema).map(
    ([name, part]) => [name, inner(part)] as const,
  );
  const needed = ((required ?? []) as string[]).filter((name) => fields.some(([field]) => field === name));
  return {
    type,
    properties: fields.length > 0 ? Object.fromEntries(fields) : undefined,
    required: needed.length > 0 ? needed : undefined,
  };
}

/** Gemini has enums of strings only; for numbers just the type remains. */
function enumerated(values: readonly unknown[]): Schema {
  if (values.every((value) => typeof value === "string")) return { type: "string", enum: values };
  const kinds = new Set(values.map((value) => typeof value));
  return { type: kinds.size === 1 && !kinds.has("string") ? [...kinds][0]! : "string" };
}

function kindOf({ properties, items, prefixItems, additionalProperties }: Schema): string {
  if (properties !== undefined || additionalProperties !== undefined) return "object";
  return items !== undefined || prefixItems !== undefined ? "array" : "string";
}

function resolved(part: Schema, root: Schema): Schema {
  const { $ref: ref } = part;
  return typeof ref === "string" ? (pointed(root, ref) ?? {}) : part;
}

function merged(one: Schema, other: Schema): Schema {
  const both = (key: string): object => ({ ...(one[key] as object), ...(other[key] as object) });
  const required = [...((one["required"] ?? []) as string[]), ...((other["required"] ?? []) as string[])];
  return { ...one, ...other, properties: both("properties"), ...(required.length > 0 && { required }) };
}

function pointed(root: Schema, ref: string): Schema | undefined {
  const path = ref.replace(/^#\/?/, "").split("/").filter(Boolean);
  const target = path.reduce<unknown>((at, key) => (at as Schema | undefined)?.[key], root);
  return ref.startsWith("#") && typeof target === "object" && target !== null
    ? (target as Schema)
    : undefined;
}

function picked(schema: Schema, keys: readonly string[]): Schema {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => keys.includes(key)));
}
