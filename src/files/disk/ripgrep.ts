import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { GrepQuery } from "../backend/index.ts";
import { inOrder, parsePath } from "../paths/index.ts";

const run = promisify(execFile);
const MAX_OUTPUT = 64 * 1024 * 1024;
/** Names of files only, and of all files: which ones count is decided here, not by ignore files and encodings. */
const FLAGS = [
  "--no-config",
  "--no-messages",
  "--color=never",
  "--files-with-matches",
  "--null",
  "--no-ignore",
  "--hidden",
  "--no-follow",
  "--text",
  "--encoding=none",
];

/** Where ripgrep looks. */
interface RipgrepScope {
  /** The real path of the backend's root. */
  root: string;
  folder: string;
  /** Names of files and folders to pass over. */
  skip: readonly string[];
  /** The milliseconds that it may take. */
  timeout: number;
}

/**
 * The files that may match, found by ripgrep; undefined when it is not installed or cannot be asked. It only
 * narrows down what is read: what matches is decided by the same code as everywhere else, on files opened with
 * the same care.
 */
export async function ripgrepCandidates(
  query: GrepQuery,
  { root, folder, skip, timeout }: RipgrepScope,
): Promise<string[] | undefined> {
  const pattern = query.regex ? ripgrepPattern(query.pattern) : query.pattern;
  // Windows looks for programs in the working folder first.
  if (pattern === undefined || process.platform === "win32") return undefined;
  const args = [
    ...FLAGS,
    query.regex ? "--no-fixed-strings" : "--fixed-strings",
    query.ignoreCase ? "--ignore-case" : "--case-sensitive",
    ...skip.filter((name) => /^[\w.-]+$/.test(name)).map((name) => `--glob=!${name}`),
    "--regexp",
    pattern,
    "--",
    join(root, folder),
  ];
  const output = await filesFrom(args, { signal: query.signal, timeout: Math.max(1, Math.floor(timeout)) });
  return output
    ?.map((file) => file.slice(root === "/" ? 0 : root.length))
    .filter((file) => {
      const parsed = parsePath(file);
      return parsed.ok && parsed.path === file;
    })
    .toSorted(inOrder);
}

async function filesFrom(
  args: string[],
  { signal, timeout }: { signal: AbortSignal | undefined; timeout: number },
): Promise<string[] | undefined> {
  try {
    const { stdout } = await run("rg", args, {
      cwd: "/",
      maxBuffer: MAX_OUTPUT,
      timeout,
      ...(signal && { signal }),
    });
    return stdout.split("\0").filter(Boolean);
  } catch (error) {
    signal?.throwIfAborted();
    // 1 is its way to say that nothing matched; anything else means that it could not search everything.
    return (error as { code?: unknown }).code === 1 ? [] : undefined;
  }
}

/**
 * The expression in ripgrep's words, if it is made of parts that mean the same in both; else undefined. Classes
 * are ASCII as in RE2, and the end of a line may be in front of a carriage return.
 */
export function ripgrepPattern(pattern: string): string | undefined {
  let translated = "";
  let rest = pattern;
  while (rest !== "") {
    const part = PARTS.map(([form, to]) => ({ match: form.exec(rest), to })).find(({ match }) => match);
    if (!part?.match) return undefined;
    const [text] = part.match;
    translated += part.to(text);
    rest = rest.slice(text.length);
  }
  return translated;
}

const CLASSES: Readonly<Record<string, string>> = {
  "\\d": "0-9",
  "\\w": "0-9A-Za-z_",
  "\\s": "\\t\\x0C\\r ",
};
const same = (text: string): string => text;

/** Syntax that means the same in RE2 and ripgrep, with its translation. A pattern with anything else is not translated. */
const PARTS: readonly (readonly [form: RegExp, to: (text: string) => string])[] = [
  [/^\\[dws]/, (text) => `[${CLASSES[text]}]`],
  [/^\\b/, () => "(?-u:\\b)"],
  [/^\\[\\.+*?()|[\]{}^$]/, same],
  [/^\\[-/"'#&~:;,!@%=<>` ]/, (text) => (/[-#&~]/.test(text) ? text : text.slice(1))],
  [/^\$/, () => "(?:\\r?$)"],
  [
    /^\[\^?(?:[A-Za-z0-9]-[A-Za-z0-9]|[\w .,;:!?@#%'"/<>=+*(){}|$]|\\[dws]|\\[\\.+*?()|[\]{}^$-])+\]/,
    (text) => text.replaceAll(/\\[dws]/g, (name) => CLASSES[name]!),
  ],
  [/^(?:\(\?:|\((?!\?)|[|)^.])/, same],
  [/^(?:[*+?]|\{\d+(?:,\d*)?\})\??/, same],
  [/^[^\\[\](){}.*+?|^$]/u, same],
];
