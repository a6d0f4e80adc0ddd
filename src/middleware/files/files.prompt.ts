/** Appended to the system prompt. */
export const FILES_SYSTEM_PROMPT = `## Files
Keep notes, drafts and results in files; paths are absolute, like /notes/plan.md. Read a file before you edit it.`;

export const FILE_TOOLS = {
  ls: "List a folder. ignored: with what .gitignore leaves out.",
  read_file: "Read a text file with line numbers, or look at an image or PDF. offset: lines to skip.",
  write_file: "Create a file or replace all of it.",
  edit_file:
    "Replace text in a file. old_string must match exactly, without the line numbers, and occur once unless replace_all.",
  delete_file: "Delete a file or folder.",
  glob: "Find files by pattern, such as /src/**/*.ts.",
  grep: "Search in files. Literal text unless regex.",
  execute: "Run a shell command in the working folder.",
} as const;
