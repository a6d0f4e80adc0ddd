/** Tags between which Holdfast puts its own words or quotes those of others, in the spellings that models know. */
const TAGS: readonly string[] = [
  String.raw`system\w*(?:-\w+)?`,
  String.raw`todo_list\w*`,
  "reminder",
  "plan",
  "external_data",
  "instructions",
  "skill",
  "user_words",
  "said",
  "summary",
  String.raw`conversation\w*`,
  "criteria",
  "earlier",
  "words",
  "part",
  "kept",
  "role",
  "working_style",
  "critical_rules",
  "completion_requirements",
];

const OPENING = opening(TAGS);

/** Characters that are not shown. A model reads a tag with some of them in it as the tag. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;

/** A pattern for the opening brackets of these tags in a text without invisible characters. */
export function opening(names: readonly string[]): RegExp {
  return new RegExp(String.raw`<(?=[\s/]*(?:${names.join("|")})(?![\w-]))`, "gi");
}

/**
 * The text of others, as a part of a prompt, a reminder or a result: none of its tags can pass for one of Holdfast's.
 * All foreign text goes through here before it is put between our own words.
 */
export function foreign(text: string): string {
  return escapedTags(text, OPENING);
}

/** Escapes the opening brackets of tags. `brackets` matches one in a text without invisible characters. */
export function escapedTags(text: string, brackets: RegExp): string {
  if (!text.includes("<")) return text;
  const visible = text.replaceAll(INVISIBLE, "");
  const tags = new Set(Array.from(visible.matchAll(brackets), ({ index }) => index));
  if (tags.size === 0) return text;
  // The brackets of both texts have the same order.
  let at = -1;
  return text.replaceAll("<", (bracket) => {
    at = visible.indexOf("<", at + 1);
    return tags.has(at) ? "&lt;" : bracket;
  });
}
