import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { GrepQuery } from "../backend/index.ts";
import { inOrder, parsePath } from "../paths/index.ts";
import { hostProgram } from "../programs/index.ts";

const run = promisify(execFile);
const MAX_OUTPUT = 64 * 1024 * 1024;
/** Lists the names of all matching files: this process applies ignore files and encodings itself. */
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

interface RipgrepScope {
  /** The real path of the backend's root. */
  root: string;
  folder: string;
  /** Names of files and folders to pass over. */
  skip: readonly string[];
  /** In milliseconds. */
  timeout: number;
}

/**
 * The files that may match, from ripgrep; undefined if it is not installed or does not support the query. The result
 * only limits which files are read: matches are decided by the same code as without ripgrep.
 */
export async function ripgrepCandidates(
  query: GrepQuery,
  { root, folder, skip, timeout }: RipgrepScope,
): Promise<string[] | undefined> {
  const pattern = query.regex ? ripgrepPattern(query.pattern) : query.pattern;
  if (pattern === undefined || process.platform === "win32") return undefined;
  const program = hostProgram("rg");
  if (program === undefined) return undefined;
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
  const output = await filesFrom([program, ...args], {
    signal: query.signal,
    timeout: Math.max(1, Math.floor(timeout)),
  });
  return output
    ?.map((file) => file.slice(root === "/" ? 0 : root.length))
    .filter((file) => {
      const parsed = parsePath(file);
      return parsed.ok && parsed.path === file;
    })
    .toSorted(inOrder);
}

async function filesFrom(
  [program = "", ...args]: string[],
  { signal, timeout }: { signal: AbortSignal | undefined; timeout: number },
): Promise<string[] | undefined> {
  try {
    const { stdout } = await run(program, args, {
      cwd: "/",
      maxBuffer: MAX_OUTPUT,
      timeout,
      ...(signal && { signal }),
    });
    return stdout.split("\0").filter(Boolean);
  } catch (error) {
    signal?.throwIfAborted();
    // Exit code 1: no match. Any other code: it could not search everything.
    return (error as { code?: unknown }).code === 1 ? [] : undefined;
  }
}

/**
 * Translates an RE2 expression to ripgrep's syntax; undefined if a part of it has no equivalent. Classes are ASCII as
 * in RE2, and `$` also matches before a carriage return.
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

/** Syntax that has an equivalent in ripgrep, with its translation. */
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
