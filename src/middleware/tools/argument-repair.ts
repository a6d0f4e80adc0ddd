import { z } from "zod";
import { attempt } from "../../errors.ts";

type Arguments = Record<string, unknown>;

/** Names that models send in the place of an argument's own, beside other spellings of it such as `filePath`. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  file_path: ["path", "file", "filename", "name"],
  path: ["file_path", "folder", "dir", "directory"],
  content: ["text", "contents", "file_text", "data"],
  old_string: ["old", "old_str", "old_text", "search", "find"],
  new_string: ["new", "new_str", "new_text", "replace", "replacement"],
  replace_all: ["all", "global"],
  edits: ["changes", "replacements"],
  pattern: ["query", "search", "text"],
  command: ["cmd", "script", "bash"],
  offset: ["skip", "start"],
  limit: ["count", "max"],
  url: ["uri", "link", "address"],
  query: ["search", "q", "text"],
  description: ["prompt", "task", "instructions"],
  subagent_type: ["agent", "subagent", "agent_type", "type"],
  question: ["text", "message"],
};

/** Arguments as they were meant, and what was changed about them, in sentences. */
export interface Repair {
  args: Arguments;
  notes: string[];
}

/**
 * Repairs arguments that a schema refuses, where there is one way to read them: another name, a number or a boolean as
 * text, one item in the place of a list, a list as JSON. What cannot be repaired is left as it is. `mayRename`: false
 * where rules have read the arguments already.
 */
export function repairArguments(
  schema: z.ZodObject,
  given: Arguments,
  { mayRename = true }: { mayRename?: boolean } = {},
): Repair {
  const notes: string[] = [];
  const args = mayRename ? renamed(schema, given, notes) : { ...given };
  for (const [name, value] of Object.entries(args)) {
    const field = schema.shape[name];
    if (field) args[name] = converted(field as z.core.$ZodType, value, { name, notes });
  }
  return { args, notes };
}

function renamed(schema: z.ZodObject, given: Arguments, notes: string[]): Arguments {
  const names = Object.keys(schema.shape);
  const args = { ...given };
  for (const name of names.filter((one) => !(one in given))) {
    const others = OTHER_NAMES[name] ?? [];
    const sent = Object.keys(args)
      .filter((key) => !names.includes(key))
      .find((key) => plain(key) === plain(name) || others.some((other) => plain(other) === plain(key)));
    if (sent === undefined) continue;
    args[name] = args[sent];
    delete args[sent];
    notes.push(`${sent} was read as ${name}.`);
  }
  return args;
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}

function converted(
  field: z.core.$ZodType,
  value: unknown,
  { name, notes }: { name: string; notes: string[] },
): unknown {
  const { def } = (field as z.core.$ZodTypes)._zod;
  if (def.type === "optional" || def.type === "default")
    return converted(def.innerType, value, { name, notes });
  const changed = (to: unknown, as: string): unknown => {
    notes.push(`${name} was read as ${as}.`);
    return to;
  };
  if (def.type === "boolean" && typeof value === "string") {
    const word = value.trim().toLowerCase();
    if (["true", "yes", "1"].includes(word)) return changed(true, "true");
    if (["false", "no", "0", ""].includes(word)) return changed(false, "false");
  }
  if (def.type === "string" && (typeof value === "number" || typeof value === "boolean"))
    return changed(String(value), "text");
  if (def.type !== "array" || value === undefined) return value;
  const list = listOf(value);
  if (list !== value) notes.push(`${name} was read as a list.`);
  const { element } = def;
  if (!(element instanceof z.ZodObject)) return list;
  return list.map((item) => {
    if (typeof item !== "object" || item === null || Array.isArray(item)) return item;
    const repaired = repairArguments(element, item as Arguments);
    notes.push(...repaired.notes);
    return repaired.args;
  });
}

function listOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  const isJson = typeof value === "string" && /^\s*[[{]/.test(value);
  return (isJson ? attempt(() => listOf(JSON.parse(value))) : undefined) ?? [value];
}

/** Problems of arguments, with the fields that were sent in the place of missing ones. */
export function problemsOf(
  { issues }: { issues: readonly { path: PropertyKey[]; message: string }[] },
  args: unknown,
): string {
  const sent = typeof args === "object" && args !== null ? Object.keys(args) : [];
  const isMissing = ({ path, message }: (typeof issues)[number]): boolean =>
    path.length === 1 && !sent.includes(String(path[0])) && /received undefined|is missing/.test(message);
  const missing = issues.filter(isMissing).map(({ path }) => String(path[0]));
  const others = issues
    .filter((issue) => !isMissing(issue))
    .map(({ path, message }) => `${path.join(".") || "arguments"}: ${message}`);
  const named = `${missing.join(", ")} ${missing.length === 1 ? "is" : "are"} missing; you sent ${sent.join(", ") || "nothing"}`;
  return [...(missing.length > 0 ? [named] : []), ...others].join("; ");
}
