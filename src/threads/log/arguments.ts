/** The arguments of a call in the form for display. */
type ShownArguments =
  | { type: "command"; command: string; rest: [string, string][] }
  | { type: "write"; path: string; content: string }
  | { type: "edit"; path: string; edits: ShownEdit[] }
  | { type: "fields"; fields: [string, string][] };

/** A text that `edit_file` replaces, once or everywhere. */
export interface ShownEdit {
  before: string;
  after: string;
  isEverywhere: boolean;
}

type Arguments = Readonly<Record<string, unknown>>;

/** Reads the arguments of built-in tools; for other tools every field is shown. */
export function shownArguments(name: string, args: Arguments): ShownArguments {
  const { file_path, content, command, ...rest } = args;
  if (name === "execute" && isText(command)) {
    return { type: "command", command, rest: fieldsOf(without(args, "command")) };
  }
  if (name === "write_file" && isText(file_path) && isText(content) && isEmpty(rest)) {
    return { type: "write", path: file_path, content };
  }
  if (name === "edit_file" && isText(file_path)) {
    const edits = editsOf(without(args, "file_path"));
    if (edits) return { type: "edit", path: file_path, edits };
  }
  return { type: "fields", fields: fieldsOf(args) };
}

/** The edits of a call, in one edit's own fields, in a list, or in both; undefined if the fields have anything else. */
function editsOf({ edits = [], ...single }: Arguments): ShownEdit[] | undefined {
  if (!Array.isArray(edits)) return undefined;
  const all: unknown[] = isEmpty(single) ? edits : [single, ...edits];
  const shown = all.flatMap((edit) => editOf(edit) ?? []);
  return shown.length > 0 && shown.length === all.length ? shown : undefined;
}

function editOf(edit: unknown): ShownEdit | undefined {
  const { old_string: before, new_string: after, replace_all, ...rest } = (edit ?? {}) as Arguments;
  if (!isText(before) || !isText(after) || !isEmpty(rest)) return undefined;
  return { before, after, isEverywhere: replace_all === true };
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
