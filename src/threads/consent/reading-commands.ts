import { plainCommands } from "../../project/index.ts";

/** Options of `git` that only choose what is shown. An allowlist, because git accepts abbreviated option names. */
const GIT_OPTION =
  /^(?:-\d+|-(?:[abpqrsvwz]|vv|sb|n\d*|S\w+|G\w+)|--(?:oneline|stat|shortstat|numstat|name-only|name-status|graph|all|branches|tags|remotes|decorate|merges|no-merges|first-parent|reverse|follow|cached|staged|short|branch|porcelain|abbrev-commit|abbrev-ref|show-toplevel|show-current|list|no-color|word-diff|patch|no-patch|(?:since|until|after|before|author|grep|max-count|format|pretty|date|diff-filter|unified)=\S*))$/;

/** Commands of `git` that only read with the options above. `branch` is checked separately. */
const GIT_COMMANDS = new Set([
  "log",
  "status",
  "diff",
  "show",
  "blame",
  "ls-files",
  "rev-parse",
  "shortlog",
  "describe",
]);

/** Filters of another command's output. With a file they would bypass the rules of the file tools. */
const FILTERS = new Set(["head", "tail", "wc", "sort", "uniq", "cat"]);

/**
 * Whether a command line only lists and prints things of the working directory. Everything else counts as a change: files
 * are read with the file tools.
 */
export function isReadingCommand(command: string): boolean {
  const commands = plainCommands(command) ?? [{ words: [undefined] }];
  return commands.every(({ words }) => {
    const plain = words.flatMap((word) => (word === undefined ? [] : [word]));
    return plain.length === words.length && (isReading(plain) || isFilter(plain));
  });
}

function isReading([program = "", ...args]: string[]): boolean {
  if (program === "pwd") return args.length === 0;
  if (program === "ls") return args.every((arg) => /^-\w+$/.test(arg) || isInside(arg));
  if (/^(?:node|npm|python3?|git|go|cargo|rustc|java|ruby|php)$/.test(program) && args.length === 1)
    if (args[0] === "--version") return true;
  if (program !== "git") return false;
  const [name = "", ...rest] = args;
  if (name === "branch") return rest.every((arg) => GIT_OPTION.test(arg));
  return GIT_COMMANDS.has(name) && rest.every((arg) => arg === "--" || GIT_OPTION.test(arg) || isInside(arg));
}

function isFilter([program = "", ...args]: string[]): boolean {
  const isOption = (arg: string): boolean => /^-[a-zA-Z]*\d*$/.test(arg) && !/^-[a-z]*[of]/.test(arg);
  if (FILTERS.has(program)) return args.every((arg) => isOption(arg) || /^\d+$/.test(arg));
  // The first word is the pattern; a second one would be a file.
  return program === "grep" && args.filter((arg) => !isOption(arg)).length === 1;
}

/** Whether a word is a path or revision in the working directory, and no option. */
function isInside(word: string): boolean {
  return !/^[-/~]|(?:^|[/:'"])\.\.(?:\/|$)|^['"][-/~]/.test(word);
}
