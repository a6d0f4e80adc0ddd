import { z } from "zod";

/** The most characters of a file with frontmatter. */
const MAX_LENGTH = 100_000;

const NAME = "must be 1 to 64 lower-case letters and digits, with single hyphens between them";
const DESCRIPTION = "must say in 1 to 1,024 characters what it is for";

/** `name` and `description` by the rules of the Agent Skills convention. Other fields are ignored. */
export const NAMED = z.object({
  name: z
    .string(NAME)
    .max(64, NAME)
    .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, NAME),
  description: z
    .string(DESCRIPTION)
    .transform((text) => text.replaceAll(/[\s\p{Cc}]+/gu, " ").trim())
    .pipe(
      z
        .string()
        .min(1, DESCRIPTION)
        .max(1024, DESCRIPTION)
        .refine((text) => !/<\/?[a-z!][^>]*>/i.test(text), "must have no XML tags in it"),
    ),
});

/** Reads a file's frontmatter and the text below it, or returns what is wrong with it. */
export async function readFrontmatter<Schema extends z.ZodType<object>>(
  text: string,
  schema: Schema,
): Promise<(z.output<Schema> & { body: string }) | string> {
  const { parse } = await import("yaml");
  return frontmatterIn(text, schema, parse);
}

/** The same with a YAML parser that is already loaded. */
export function frontmatterIn<Schema extends z.ZodType<object>>(
  text: string,
  schema: Schema,
  parse: (typeof import("yaml"))["parse"],
): (z.output<Schema> & { body: string }) | string {
  if (text.length > MAX_LENGTH) return `has more than ${MAX_LENGTH} characters`;
  const [block, yaml] = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text) ?? [];
  if (block === undefined) return "does not begin with frontmatter between two lines of ---";
  let data: unknown;
  try {
    // No aliases: a few can expand to a huge document.
    data = parse(yaml!, { maxAliasCount: 0, logLevel: "error", prettyErrors: false });
  } catch (error) {
    const [reason = ""] = (error as Error).message.split("\n");
    return `has frontmatter that is not YAML: ${reason}`;
  }
  const parsed = schema.safeParse(data);
  if (parsed.success) return { ...parsed.data, body: text.slice(block.length) };
  const [issue] = parsed.error.issues;
  return `has frontmatter that cannot be used: ${[issue!.path.join("."), issue!.message].filter(Boolean).join(" ")}`;
}
