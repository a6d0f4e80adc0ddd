import { z } from "zod";
import { HarnessError } from "../../errors.ts";

interface OptionsCheck {
  /** The function that takes the options, for the message. */
  name: string;
  schema: z.ZodObject;
  /** Their path within the options of `name`. Default: the root. */
  at?: readonly PropertyKey[];
}

/** Throws `invalid-options` that names every unknown option and every invalid value. */
export function checkOptions(options: unknown, { name, schema, at = [] }: OptionsCheck): void {
  const result = schema.safeParse(options);
  if (result.success) return;
  const reasons = result.error.issues.flatMap((issue) => reasonsOf(issue, { schema, at, path: [] }));
  throw new HarnessError("invalid-options", `${name}: ${reasons.join("; ")}.`);
}

interface OptionPlace extends Required<Pick<OptionsCheck, "schema" | "at">> {
  /** The path in the schema at which an issue's own path begins. */
  path: readonly PropertyKey[];
}

function reasonsOf(issue: z.core.$ZodIssue, { schema, at, path: base }: OptionPlace): string[] {
  const path = [...base, ...issue.path];
  // The last member of a union is its main form, as in "false, or an object": report the issues of that one.
  const mainIssues = issue.code === "invalid_union" ? issue.errors.at(-1) : undefined;
  if (mainIssues) return mainIssues.flatMap((inner) => reasonsOf(inner, { schema, at, path }));
  const fullPath = [...at, ...path];
  if (issue.code !== "unrecognized_keys") return [`${fullPath.join(".") || "the options"}: ${issue.message}`];
  const names = issue.keys.map((key) => `"${[...fullPath, key].join(".")}"`).join(", ");
  return [`there is no option ${names} (there are ${keysAt(schema, path).join(", ")})`];
}

/** The keys of the object at a path in a schema. */
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

export const FUNCTION = z.custom<unknown>((value) => typeof value === "function", "must be a function");

export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Whether a value has these methods. Accepts functions and instances of any class. */
export function hasMethods(value: unknown, names: readonly string[]): boolean {
  if (!isObject(value) && typeof value !== "function") return false;
  return names.every((name) => typeof (value as Record<string, unknown>)[name] === "function");
}
