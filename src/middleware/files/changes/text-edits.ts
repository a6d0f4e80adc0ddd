import { fail } from "../../../files/backend/index.ts";
import type { FileResult, TextEdit } from "../../../files/index.ts";
import { replaceText } from "../../../files/text/index.ts";

/** The replacements that the arguments of an `edit_file` call ask for: one, or those in `edits`. */
export function textEdits(args: unknown): TextEdit[] {
  const { edits, ...single } = (args ?? {}) as Record<string, unknown>;
  const list = [...("old_string" in single ? [single] : []), ...(Array.isArray(edits) ? edits : [])];
  return list.flatMap((one) => {
    const { old_string, new_string, replace_all } = (one ?? {}) as Record<string, unknown>;
    if (typeof old_string !== "string" || typeof new_string !== "string") return [];
    return [{ oldString: old_string, newString: new_string, replaceAll: replace_all === true }];
  });
}

/** The text after all replacements, each made in what the ones before it left; a failure where one cannot be made. */
export function applyEdits(content: string, edits: readonly TextEdit[]): FileResult<{ content: string }> {
  let text = content;
  for (const [at, edit] of edits.entries()) {
    const replaced = replaceText(text, edit);
    const which = edits.length > 1 ? `Edit ${at + 1} of ${edits.length}: ` : "";
    if (!replaced.ok) return fail(`${which}${replaced.error}`);
    text = replaced.content;
  }
  return text === content ? fail("The edits come to no change.") : { ok: true, content: text };
}
