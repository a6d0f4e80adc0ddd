import { fieldText, shownArguments, type ShownEdit } from "../arguments.ts";
import { lineDiff, type DiffLine } from "../line-diff.ts";
import { inSight } from "../words.ts";
import type { MakeElement } from "./prose.ts";

/** The arguments of a call as elements, for the page and the export. */
export function argumentParts<Element>(name: string, args: unknown, make: MakeElement<Element>): Element[] {
  if (args === undefined) return [];
  // Unreadable arguments are shown as they are.
  if (typeof args !== "object" || args === null) return [textPart(fieldText(args), make)];
  const shown = shownArguments(name, args as Record<string, unknown>);
  switch (shown.type) {
    case "command":
      return [
        make("pre", { tabIndex: 0, className: "command" }, inSight(shown.command)),
        ...fieldParts(shown.rest, make),
      ];
    case "write":
      return [make("p", { className: "path" }, inSight(shown.path)), textPart(shown.content, make)];
    case "edit":
      return shown.edits.flatMap((edit, at) => editParts(edit, headOf(shown, at), make));
    case "fields":
      return fieldParts(shown.fields, make);
  }
}

/** The path of an edited file, and the number of an edit if there are several. */
function headOf({ path, edits }: { path: string; edits: readonly ShownEdit[] }, at: number): string {
  const where = edits.length > 1 ? ` (${at + 1} of ${edits.length})` : "";
  return `${inSight(path)}${where}`;
}

function editParts<Element>(edit: ShownEdit, head: string, make: MakeElement<Element>): Element[] {
  return [
    make("p", { className: "path" }, edit.isEverywhere ? `${head} (everywhere)` : head),
    ...diffParts(edit, `Changes in ${head}`, make),
  ];
}

function textPart<Element>(text: string, make: MakeElement<Element>): Element {
  return make("pre", { tabIndex: 0 }, inSight(text));
}

function fieldParts<Element>(fields: readonly [string, string][], make: MakeElement<Element>): Element[] {
  if (fields.length === 0) return [];
  const items = fields.map(([field, value]) =>
    make("div", {}, make("dt", {}, inSight(field)), make("dd", {}, inSight(value))),
  );
  return [make("dl", { className: "fields" }, ...items)];
}

const SIGNS: Readonly<Record<DiffLine["kind"], string>> = { same: " ", added: "+", removed: "−" };
const WORDS: Readonly<Record<DiffLine["kind"], string>> = {
  same: "",
  added: "added: ",
  removed: "removed: ",
};

export function diffParts<Element>(
  { before, after }: { before: string; after: string },
  label: string,
  make: MakeElement<Element>,
): Element[] {
  const hunks = lineDiff(before, after);
  const note = (text: string): Element => make("p", { className: "empty" }, text);
  if (!hunks) {
    const text = "The two versions differ too much to be compared; this is the new one.";
    return [note(text), textPart(after, make)];
  }
  if (hunks.length === 0) return [note("Nothing changes in this file.")];
  const rowOf = ({ kind, text, before: old, after: now }: DiffLine): Element =>
    make(
      "tr",
      { className: `line-${kind}` },
      make("td", { className: "number" }, String(now ?? old)),
      make(
        "td",
        { className: "sign" },
        make("span", { "aria-hidden": "true" }, SIGNS[kind]),
        make("span", { className: "hidden" }, WORDS[kind]),
      ),
      make("td", { className: "line" }, inSight(text)),
    );
  const parts = hunks.map(({ lines }) => make("tbody", {}, ...lines.map(rowOf)));
  const attributes = { className: "diff", tabIndex: 0, role: "group", "aria-label": label };
  return [make("div", attributes, make("table", {}, ...parts))];
}
