import { createHash } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { posix } from "node:path";
import { attempt } from "../../../../errors.ts";
import { MAX_GIT_FILE, readRegular, readSettings } from "../../../git/index.ts";
import { isWithin } from "../../../paths/index.ts";
import { HARMLESS, userGitSettings } from "../git-settings.ts";
import { bytes, BYTES, from, fromText, realPathOf } from "./byte-paths.ts";

/** Settings of a repository that make git run no program, in addition to the harmless ones of users. */
const PLAIN =
  /^(?:core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|symlinks|worktree|sparsecheckout|sparsecheckoutcone)|extensions\.[a-z]+|remote\..+\.(?:url|pushurl|fetch|tagopt|promisor|partialclonefilter|prune)|branch\..+\.(?:remote|merge|rebase)|submodule\..+\.(?:url|active|branch|path)|submodule\.active|(?:commit|tag)\.gpgsign|gc\.auto|maintenance\.auto|receive\.denycurrentbranch)$/;

const SETTINGS = ["config", "config.worktree"];

/** A repository by git's folder and the folders of its files. */
export interface RepositoryPlace {
  folder: string;
  trees: ReadonlySet<string>;
}

/** The paths below the root by which a repository can make git run programs, whether they exist or not. */
export function programFiles(root: string, { folder, trees }: RepositoryPlace): Set<string> {
  const paths = new Set([...SETTINGS, "hooks"].map((name) => `${folder}/${name}`));
  /** Not what contains the repository: it cannot be moved aside. */
  const isBelow = (path: string): boolean =>
    [posix.normalize(path), attempt(() => realPathOf(path, root)) ?? root].some((one) =>
      isWithin(one, root),
    ) && [root, folder, ...trees].every((one) => !isWithin(one, posix.normalize(path)));
  const add = (path: string): void => void paths.add(posix.normalize(path));
  const addHooks = (value: string): void => {
    for (const top of [...trees, folder]) {
      const path = from(top, expanded(value));
      if (isBelow(path)) add(path);
    }
  };
  const addNamed = (file: string): void => {
    for (const [name, value] of settingsNaming(/include|hookspath/i, file, root)) {
      if (value === undefined) continue;
      if (name === "core.hookspath") addHooks(fromText(value));
      if (!/^include(?:if\..*)?\.path$/s.test(name)) continue;
      const path = from(posix.dirname(file), expanded(fromText(value)));
      if (!isBelow(path) || paths.has(posix.normalize(path))) continue;
      add(path);
      addNamed(path);
    }
  };
  for (const name of SETTINGS) addNamed(`${folder}/${name}`);
  for (const [name, value] of userGitSettings(Buffer.from(root, BYTES).toString()))
    if (name === "core.hookspath" && value !== undefined) addHooks(fromText(value));
  return paths;
}

/** The existing paths below the root, other than git's own, by which its repository makes git run programs. */
export function programFilesOfRoot(dir: string): string[] {
  const root = fromText(dir);
  const folder = `${root}/.git`;
  return [...programFiles(root, { folder, trees: new Set([root]) })]
    .filter((path) => posix.dirname(path) !== folder && attempt(() => realPathOf(path, root)) !== undefined)
    .map((path) => Buffer.from(posix.normalize(path), BYTES).toString());
}

/** The folders of files that the settings of a repository name. */
export function treesNamedIn(folder: string, root: string): string[] {
  return SETTINGS.flatMap((name) => settingsNaming(/worktree/i, `${folder}/${name}`, root))
    .flatMap(([name, value]) => (name === "core.worktree" && value !== undefined ? [value] : []))
    .map((value) => from(folder, fromText(value)));
}

/** The settings in a file; none if its text does not match, or if it cannot be read. */
function settingsNaming(words: RegExp, file: string, root: string): [string, string | undefined][] {
  const text = attempt(() => readThroughLinks(file, root));
  return (text && words.test(text.toString(BYTES)) && settingsIn(text)) || [];
}

function settingsIn(text: Buffer): [name: string, value: string | undefined][] | undefined {
  return readSettings(["--file", "-", "--no-includes"], undefined, text);
}

function readThroughLinks(path: string, root: string): Buffer | undefined {
  const real = realPathOf(path, root);
  return real === undefined ? undefined : readRegular(bytes(real), MAX_GIT_FILE);
}

function expanded(path: string): string {
  return path.startsWith("~/") ? fromText(homedir()) + path.slice(1) : path;
}

/** What git finds at a path, to compare: its text, or that of the files in a folder. Undefined if it cannot be read. */
export function contentAt(path: string, root: string): string | undefined {
  return attempt(() => {
    const real = realPathOf(path, root);
    if (real === undefined) return "";
    if (!statSync(bytes(real)).isDirectory()) return fileContent(real);
    const names = readdirSync(bytes(real), BYTES).toSorted();
    const hash = createHash("sha256");
    for (const name of names) {
      const file = realPathOf(`${real}/${name}`, root);
      hash.update(`${name}\0${file === undefined ? "" : fileContent(file)}\0`);
    }
    return hash.digest("hex");
  });
}

function fileContent(path: string): string {
  const stats = statSync(bytes(path), { bigint: true });
  const { dev, ino, size, mode, ctimeNs } = stats;
  // Programs cannot set a ctime.
  if (!stats.isFile() || size > MAX_GIT_FILE) return [dev, ino, size, mode, ctimeNs].join(":");
  return `${mode}:${createHash("sha256")
    .update(readRegular(bytes(path))!)
    .digest("hex")}`;
}

/** Whether git may run programs by settings or a folder of hooks. True if that cannot be known. */
export function runsPrograms(path: string, root: string): boolean {
  const verdict = attempt(() => {
    const real = realPathOf(path, root);
    if (real === undefined) return false;
    if (statSync(bytes(real)).isDirectory())
      return readdirSync(bytes(real)).some((name) => !name.endsWith(".sample"));
    const text = readRegular(bytes(real), MAX_GIT_FILE);
    // Another version of git may be able to read the file.
    return text ? settingsIn(text)?.some(([name]) => !PLAIN.test(name) && !HARMLESS.test(name)) : false;
  });
  return verdict ?? true;
}
