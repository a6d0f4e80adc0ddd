import ignore, { type Ignore } from "ignore";
import { foldName, nameOf, parentOf, pathIn } from "../paths/index.ts";

interface IgnoreOptions {
  /** Reads a text file; undefined if it is missing. */
  read: (path: string) => Promise<string | undefined>;
  /** Names that the search spells out. These are searched even if ignored, with everything below them. */
  names: readonly string[];
}

/** The decision about a path. "included": ignored by a rule, but spelled out by the search. */
type Verdict = "open" | "skipped" | "included";

/**
 * Decides which paths are ignored: by `.gitignore` files, nested ones too, and `.git` itself. For a single search, as
 * it caches the files.
 */
export class IgnoreRules {
  readonly #options: IgnoreOptions;
  readonly #rules = new Map<string, Promise<Ignore>>();
  readonly #folders = new Map<string, Promise<Verdict>>();

  constructor(options: IgnoreOptions) {
    this.#options = options;
  }

  /** Whether a file or folder is ignored, by itself or with a folder above it. */
  async skips(path: string, isDirectory: boolean): Promise<boolean> {
    return (await (isDirectory ? this.#folderVerdict(path) : this.#verdict(path, false))) === "skipped";
  }

  /** Like `skips`, for all entries of one folder, without a promise for each. */
  async skipsIn(folder: string): Promise<(path: string, isDirectory: boolean) => boolean> {
    const verdict = await this.#verdictsIn(folder);
    return (path, isDirectory) => verdict(path, isDirectory) === "skipped";
  }

  #folderVerdict(path: string): Promise<Verdict> {
    const verdict = this.#folders.get(path) ?? this.#verdict(path, true);
    this.#folders.set(path, verdict);
    return verdict;
  }

  async #verdict(path: string, isDirectory: boolean): Promise<Verdict> {
    return path === "/" ? "open" : (await this.#verdictsIn(parentOf(path)))(path, isDirectory);
  }

  async #verdictsIn(folder: string): Promise<(path: string, isDirectory: boolean) => Verdict> {
    const above = await this.#folderVerdict(folder);
    if (above !== "open") return () => above;
    const rules = await this.#rulesIn(folder);
    return (path, isDirectory) => {
      // No rule can include .git, in any spelling.
      const isIgnored =
        foldName(nameOf(path)) === ".git" || rules.ignores(`${path.slice(1)}${isDirectory ? "/" : ""}`);
      if (!isIgnored) return "open";
      return this.#options.names.includes(nameOf(path)) ? "included" : "skipped";
    };
  }

  /** The rules for the entries of a folder: those of the folders above, then its own, which win. */
  #rulesIn(folder: string): Promise<Ignore> {
    const rules = this.#rules.get(folder) ?? this.#readRules(folder);
    this.#rules.set(folder, rules);
    return rules;
  }

  async #readRules(folder: string): Promise<Ignore> {
    const above = folder === "/" ? emptyRules() : await this.#rulesIn(parentOf(folder));
    const text = await this.#options.read(pathIn(folder, ".gitignore"));
    if (text === undefined) return above;
    return emptyRules().add(above).add(rulesOf(text, folder));
  }
}

/** Whether the text of a `.gitignore` file ignores a path below its folder; a folder ends with a slash. */
export function ignoresIn(text: string): (path: string) => boolean {
  const rules = rulesOf(text, "/");
  return (path) => rules.ignores(path);
}

function rulesOf(text: string, folder: string): Ignore {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/, MAX_RULES);
  return emptyRules().add(lines.flatMap((line) => fromRoot(line, folder)));
}

const MAX_RULES = 5000;
const MAX_LENGTH = 500;
const MAX_STARS = 3;

/** Rules compile to backtracking expressions: one with many stars would hang on a long name. */
function isTooComplex(rule: string): boolean {
  if (rule.length > MAX_LENGTH) return true;
  const segments = rule.split("/");
  const stars = segments
    .filter((segment) => segment !== "**")
    .map((segment) => segment.match(/\*+/g)?.length ?? 0);
  return Math.max(segments.length - stars.length, ...stars) > MAX_STARS;
}

function emptyRules(): Ignore {
  return ignore({ ignorecase: false });
}

/** Translates a rule of a folder's file to a rule of the root, so that one rule set decides. */
function fromRoot(line: string, folder: string): string[] {
  const bare = line.trimEnd();
  // A backslash keeps the first blank after it.
  const rule = bare.endsWith("\\") ? line.slice(0, bare.length + 1) : bare;
  if (rule === "" || rule.startsWith("#") || isTooComplex(rule)) return [];
  if (folder === "/") return [rule];
  const sign = rule.startsWith("!") ? "!" : "";
  const pattern = rule.slice(sign.length);
  // A slash at the start or in the middle anchors a rule to its folder.
  const depth = pattern.slice(0, -1).includes("/") ? "" : "**/";
  const escaped = folder.replaceAll(/[\\*?[]/g, (character) => `\\${character}`);
  return [`${sign}${escaped}/${depth}${pattern.replace(/^\/|^\\(?=[!#])/, "")}`];
}
