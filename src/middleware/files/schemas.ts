import { z } from "zod";
import { UNLISTED, isCutNote } from "../tools/index.ts";

const file_path = z.string().min(1, "give a path such as /src/a.js");
const MISSING = (name: string) => ({ path: [name], message: "is missing" });
const text = z
  .string()
  .refine((value) => !isCutNote(value), "is only the note in the place of a refused text; send the text");
const edit = z.object({
  old_string: z.string(),
  new_string: text,
  replace_all: z.boolean().optional(),
});
const count = z.coerce.number().int().min(0);

/** The arguments of each file tool. */
export const FILE_ARGUMENTS = {
  ls: z.object({
    path: z.string().optional(),
    sizes: z.boolean().optional(),
    ignored: z.boolean().optional(),
  }),
  read_file: z.object({
    file_path,
    offset: count.optional(),
    limit: count.optional(),
    column: count.optional().meta(UNLISTED),
  }),
  write_file: z
    .object({ file_path, content: text.optional(), confirm: z.boolean().optional() })
    .refine(({ content, confirm = false }) => content !== undefined || confirm, MISSING("content")),
  edit_file: z
    .object({ file_path, ...edit.partial().shape, edits: z.array(edit).optional() })
    .refine(
      ({ old_string, edits }) => old_string !== undefined || edits?.length,
      MISSING("old_string or edits"),
    )
    .refine(
      ({ old_string, new_string }) => old_string === undefined || new_string !== undefined,
      MISSING("new_string"),
    ),
  delete_file: z.object({ file_path }),
  glob: z.object({
    pattern: z.string().min(1),
    path: z.string().optional(),
    sizes: z.boolean().optional(),
    ignored: z.boolean().optional(),
  }),
  grep: z.object({
    pattern: z.string().min(1),
    path: z.string().optional(),
    glob: z.string().optional(),
    regex: z.boolean().optional(),
    ignore_case: z.boolean().optional(),
    context: count.optional(),
    output: z.enum(["content", "files", "count"]).optional(),
    limit: count.optional(),
    ignored: z.boolean().optional(),
  }),
  execute: z.object({ command: z.string().min(1), timeout: z.coerce.number().positive().optional() }),
} as const;

export type FileToolName = keyof typeof FILE_ARGUMENTS;
