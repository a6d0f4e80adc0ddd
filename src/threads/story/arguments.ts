/** The arguments of a call in the form for display. */
type ShownArguments =
  | { type: "command"; command: string; rest: [string, string][] }
  | { type: "write"; path: string; content: string }
  | { type: "edit"; path: string; before: string; after: string; isEverywhere: boolean }
  | { type: "fields"; fields: [string, string][] };

type Arguments = Readonly<Record<string, unknown>>;

/** Reads the arguments of built-in tools; for other tools every field is shown. */
export function shownArguments(name: string, args: Arguments): ShownArguments {
  const { file_path, content, old_string, new_string, replace_all, command, ...rest } = args;
  if (name === "execute" && isText(command)) {
    return { type: "command", command, rest: fieldsOf(without(args, "command")) };
  }
  if (name === "write_file" && isText(file_path) && isText(content) && isEmpty(rest)) {
    return { type: "write", path: file_path, content };
  }
  if (
    name === "edit_file" &&
    isText(file_path) &&
    isText(old_string) &&
    isText(new_string) &&
    isEmpty(rest)
  ) {
    const isEverywhere = replace_all === true;
    return { type: "edit", path: file_path, before: old_string, after: new_string, isEverywhere };
  }
  return { type: "fields", fields: fieldsOf(args) };
}

/** The text of a field: strings as they are, other values as JSON. */
export function fieldText(value: unknown): string {
  return isText(value) ? value : JSON.stringify(value, undefined, 2);
}

/** The value of an edited field: a string if it was one, else parsed JSON. Throws for invalid JSON. */
export function fieldValue(text: string, before: unknown): unknown {
  return isText(before) ? text : (JSON.parse(text) as unknown);
}

function fieldsOf(args: Arguments): [string, string][] {
  return Object.entries(args).map(([field, value]) => [field, fieldText(value)]);
}

function without(args: Arguments, field: string): Arguments {
  return Object.fromEntries(Object.entries(args).filter(([name]) => name !== field));
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isEmpty(rest: object): boolean {
  return Object.keys(rest).length === 0;
}
