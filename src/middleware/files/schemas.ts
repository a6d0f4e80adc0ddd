import { z } from "zod";

const file_path = z.string().min(1, "give a path such as /notes/plan.md");
const count = z.coerce.number().int().min(0);

/** The arguments of each file tool. */
export const FILE_ARGUMENTS = {
  ls: z.object({
    path: z.string().optional(),
    sizes: z.boolean().optional(),
    ignored: z.boolean().optional(),
  }),
  read_file: z.object({ file_path, offset: count.optional(), limit: count.optional() }),
  write_file: z.object({ file_path, content: z.string() }),
  edit_file: z.object({
    file_path,
    old_string: z.string(),
    new_string: z.string(),
    replace_all: z.boolean().optional(),
  }),
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
