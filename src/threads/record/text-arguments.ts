const TELLING = [
  "file_path",
  "path",
  "pattern",
  "command",
  "title",
  "description",
  "question",
  "query",
  "url",
  "name",
];

/** The arguments of a call that people want to know of it in a list, the most telling first. */
export function textArguments(args: Readonly<Record<string, unknown>>): string[] {
  return TELLING.flatMap((key) => {
    const value = args[key];
    return typeof value === "string" && value !== "" ? value : [];
  });
}
