import { z } from "zod";
import { HarnessError } from "../../errors.ts";

/** A check of options. */
export interface OptionsCheck {
  /** The owner of the options, for the message. */
  name: string;
  schema: z.ZodObject;
  /** Where they stand among the options of `name`. Default: they are those. */
  at?: readonly PropertyKey[];
}

/** Throws `invalid-options` that names every option that is misspelled or has a value that cannot be. */
export function checkOptions(options: unknown, { name, schema, at = [] }: OptionsCheck): void {
  const result = schema.safeParse(options);
  if (result.success) return;
  const reasons = result.error.issues.flatMap((issue) => reasonsOf(issue, { schema, at, path: [] }));
  throw new HarnessError("invalid-options", `${name}: ${reasons.join("; ")}.`);
}

interface Place extends Required<Pick<OptionsCheck, "schema" | "at">> {
  /** Where in the schema an issue's own path begins. */
  path: readonly PropertyKey[];
}

function reasonsOf(issue: z.core.$ZodIssue, { schema, at, path: above }: Place): string[] {
  const path = [...above, ...issue.path];
  // Of "false, or an object" somebody who gave something else meant the object.
  const meant = issue.code === "invalid_union" ? issue.errors.at(-1) : undefined;
  if (meant) return meant.flatMap((inner) => reasonsOf(inner, { schema, at, path }));
  const shown = [...at, ...path];
  if (issue.code !== "unrecognized_keys") return [`${shown.join(".") || "the options"}: ${issue.message}`];
  const names = issue.keys.map((key) => `"${[...shown, key].join(".")}"`).join(", ");
  return [`there is no option ${names} (there are ${keysAt(schema, path).join(", ")})`];
}

/** The options that an object at a place in a schema may have. */
function keysAt(schema: z.core.$ZodType | undefined, path: readonly PropertyKey[]): string[] {
  const { def } = (schema as z.core.$ZodTypes | undefined)?._zod ?? {};
  const [key, ...rest] = path;
  switch (def?.type) {
    case "optional":
      return keysAt(def.innerType, path);
    case "union":
      return keysAt(def.options.at(-1), path);
    case "array":
      return keysAt(def.element, rest);
    case "object":
      return key === undefined ? Object.keys(def.shape) : keysAt(def.shape[String(key)], rest);
    default:
      return [];
  }
}

/** The schema of a function. */
export const FUNCTION = z.custom<unknown>((value) => typeof value === "function", "must be a function");

export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Whether a value has these methods, whatever it is an instance of. */
export function hasMethods(value: unknown, names: readonly string[]): boolean {
  if (!isObject(value) && typeof value !== "function") return false;
  return names.every((name) => typeof (value as Record<string, unknown>)[name] === "function");
}
