import { z } from "zod";
import type { Skill } from "./skill.ts";

/** The most characters of a `SKILL.md`: it is read whole when its name is called. */
const MAX_LENGTH = 100_000;

const NAME = "must be 1 to 64 lower-case letters and digits, with single hyphens between them";
const DESCRIPTION = "must say in 1 to 1,024 characters what the skill is for";

/** The rules of the Agent Skills convention. Other fields are left to whoever understands them. */
const FRONTMATTER = z.object({
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

/** Reads a `SKILL.md`, or says what is wrong with it. */
export async function readFrontmatter(
  text: string,
): Promise<Pick<Skill, "name" | "description" | "body"> | string> {
  if (text.length > MAX_LENGTH) return `has more than ${MAX_LENGTH} characters`;
  const [all, yaml] = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text) ?? [];
  if (all === undefined) return "does not begin with frontmatter between two lines of ---";
  const { parse } = await import("yaml");
  let data: unknown;
  try {
    // Aliases can make much of little, and no skill needs one.
    data = parse(yaml!, { maxAliasCount: 0, logLevel: "error", prettyErrors: false });
  } catch (error) {
    const [reason = ""] = (error as Error).message.split("\n");
    return `has frontmatter that is not YAML: ${reason}`;
  }
  const read = FRONTMATTER.safeParse(data);
  if (read.success) return { ...read.data, body: text.slice(all.length) };
  const [issue] = read.error.issues;
  return `has frontmatter that cannot be used: ${[issue!.path.join("."), issue!.message].filter(Boolean).join(" ")}`;
}
