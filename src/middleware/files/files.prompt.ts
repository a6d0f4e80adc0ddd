/** Appended to the system prompt. */
export const FILES_SYSTEM_PROMPT = `## Files
Keep notes, drafts and results in files; paths are absolute, like /notes/plan.md.`;

/** The heading of the section where the backend says itself where the files are. */
export const FILES_HEADING = "## Files\n";

/** Texts for the model about a file that is not as it knows it. */
export const HELD_TEXTS = {
  held: '"{path}" was not written: it has text that you have not seen. {shown}\nTo write yours over it, call write_file with file_path and confirm: true, without content.',
  whole: "It has:",
  begins: "It begins:",
  differences: "Yours would change:",
  notText: "It is no text; it has {size} bytes.",
  changed: "It has changed since you saw it.",
  changedLines: "It has changed since you saw it:",
  nothingHeld: 'no text for "{path}" was held back: send content.',
};

export const FILE_TOOLS = {
  ls: "List a folder. ignored: with what .gitignore leaves out.",
  read_file: "Read a text file with line numbers, or look at an image or PDF. offset: lines to skip.",
  write_file: "Create a file or replace all of it. confirm: write what was held back, without content.",
  edit_file:
    "Replace text in a file. old_string must match exactly, without the line numbers, and occur once unless replace_all. edits: several at once, all or none.",
  delete_file: "Delete a file or folder.",
  glob: "Find files by pattern, such as /src/**/*.ts.",
  grep: "Search in files. Literal text unless regex.",
  execute:
    "Run a shell command in the working folder. timeout: seconds. What it leaves in the background ends with it.",
} as const;
