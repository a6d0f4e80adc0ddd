import { fail } from "../../../files/backend/index.ts";
import type { FileResult, TextEdit } from "../../../files/index.ts";
import { replaceText } from "../../../files/text/index.ts";

/** The replacements in the arguments of an `edit_file` call: one, or those in `edits`. */
export function textEdits(args: unknown): TextEdit[] {
  const { edits, ...single } = (args ?? {}) as Record<string, unknown>;
  const list = [...("old_string" in single ? [single] : []), ...(Array.isArray(edits) ? edits : [])];
  return list.flatMap((one) => {
    const { old_string, new_string, replace_all } = (one ?? {}) as Record<string, unknown>;
    if (typeof old_string !== "string" || typeof new_string !== "string") return [];
    return [{ oldString: old_string, newString: new_string, replaceAll: replace_all === true }];
  });
}

/** Applies replacements one after the other. Fails if one cannot be made, or if the text stays the same. */
export function applyEdits(content: string, edits: readonly TextEdit[]): FileResult<{ content: string }> {
  let text = content;
  for (const [at, edit] of edits.entries()) {
    const result = replaceText(text, edit);
    const which = edits.length > 1 ? `Edit ${at + 1} of ${edits.length}: ` : "";
    if (!result.ok) return fail(`${which}${result.error}`);
    text = result.content;
  }
  return text === content ? fail("The edits come to no change.") : { ok: true, content: text };
}
