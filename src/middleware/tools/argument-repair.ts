import { z } from "zod";
import { attempt } from "../../errors.ts";

type Arguments = Record<string, unknown>;

/** Names that models send instead of an argument's own, apart from other spellings such as `filePath`. */
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

/** Repaired arguments, and a sentence for each change. */
export interface Repair {
  args: Arguments;
  notes: string[];
}

/**
 * Repairs arguments that a schema refuses if there is only one way to read them: another name, a number or a boolean as
 * text, one item instead of a list, a list as JSON. Leaves what cannot be repaired. `mayRename`: false after rules have
 * read the arguments. Default true.
 */
export function repairArguments(
  schema: z.ZodObject,
  sentArgs: Arguments,
  { mayRename = true }: { mayRename?: boolean } = {},
): Repair {
  const notes: string[] = [];
  const args = mayRename ? renameArguments(schema, sentArgs, notes) : { ...sentArgs };
  for (const [name, value] of Object.entries(args)) {
    const field = schema.shape[name];
    if (field) args[name] = convertValue(field as z.core.$ZodType, value, { name, notes });
  }
  return { args, notes };
}

function renameArguments(schema: z.ZodObject, sentArgs: Arguments, notes: string[]): Arguments {
  const names = Object.keys(schema.shape);
  const args = { ...sentArgs };
  for (const name of names.filter((one) => !(one in sentArgs))) {
    const others = OTHER_NAMES[name] ?? [];
    const otherName = Object.keys(args)
      .filter((key) => !names.includes(key))
      .find(
        (key) =>
          normalizedName(key) === normalizedName(name) ||
          others.some((other) => normalizedName(other) === normalizedName(key)),
      );
    if (otherName === undefined) continue;
    args[name] = args[otherName];
    delete args[otherName];
    notes.push(`${otherName} was read as ${name}.`);
  }
  return args;
}

function normalizedName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}

function convertValue(
  field: z.core.$ZodType,
  value: unknown,
  { name, notes }: { name: string; notes: string[] },
): unknown {
  const { def } = (field as z.core.$ZodTypes)._zod;
  if (def.type === "optional" || def.type === "default")
    return convertValue(def.innerType, value, { name, notes });
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

/** Describes the problems of arguments, with the fields that were sent if some are missing. */
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
  const summary = `${missing.join(", ")} ${missing.length === 1 ? "is" : "are"} missing; you sent ${sent.join(", ") || "nothing"}`;
  return [...(missing.length > 0 ? [summary] : []), ...others].join("; ");
}
