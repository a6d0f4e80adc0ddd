import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createBackend } from "../src/files/backends/create.ts";
import { withPermissions } from "../src/files/backends/with-permissions.ts";
import { Disk } from "../src/files/disk/disk.ts";
import { operate } from "../src/middleware/files/operate.ts";
import { FILE_ARGUMENTS, type FileToolName } from "../src/middleware/files/schemas.ts";
import { chance, type Attack } from "./attack.ts";

const SECRET = "canary";

/**
 * Every file tool is called with paths and globs that try to lead out of the root, past a rule for `.git`, or into an
 * exception. A failure is something secret in an answer, a place on the host in it that the call did not name, a change
 * outside or in `.git`, or an exception.
 */
export const paths: Attack = {
  name: "paths",
  async run({ seed, tries = 13_000 }) {
    const base = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-paths-")));
    const root = join(base, "root");
    const random = chance(seed);
    const one = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
    const hostile = (): string => {
      const parts = Array.from({ length: 1 + Math.floor(random() * 6) }, () => one(NAMES) + one(SEPARATORS));
      return one(["", "", base, root, join(base, "outside")]) + one(FRONTS) + parts.join("") || "/";
    };
    /** Gets as far as the disk, where the links are. */
    const plain = (): string =>
      `/${Array.from({ length: 1 + random() * 3 }, () => one(PLAIN_NAMES)).join("/")}`;
    const before = build(base);
    const backends = [undefined, false].map((descriptors) =>
      withPermissions(createBackend(new Disk(root, {}, descriptors)), [
        { effect: "deny", paths: "**/.git/**" },
      ]),
    );
    const failures: string[] = [];
    let refused = 0;
    try {
      for (let n = 0; n < tries; n += 1) {
        const name = one(TOOLS);
        const args = { ...ARGUMENTS[name], ...pathsFor(name, one([hostile, plain])) };
        const call = { name, args: FILE_ARGUMENTS[name].parse(args) };
        const answer = await operate(backends[n % 2]!, call).catch((error: unknown) => ({
          ok: false,
          text: `thrown: ${SECRET} ${String(error)}`,
        }));
        if (!answer.ok) refused += 1;
        const isKnown = JSON.stringify(args).includes(base);
        const isTold = answer.text.includes(base) && !isKnown;
        const isBad = answer.text.includes(SECRET) || isTold || guarded(base) !== before;
        if (isBad) failures.push(`${name} ${JSON.stringify(args)}: ${answer.text.slice(0, 200)}`);
        // Files in the root may be called like a place on the host by now.
        if (isBad || (isKnown && name === "write_file") || n % 200 === 199) build(base);
      }
    } finally {
      rmSync(base, { recursive: true });
    }
    const notes = failures[0] ?? `${refused} calls refused`;
    return { tries, failures: failures.length, notes };
  },
};

const TOOLS = ["ls", "read_file", "write_file", "edit_file", "delete_file", "glob", "grep"] as const;

/** Arguments that are no paths. */
const ARGUMENTS: Partial<Record<FileToolName, object>> = {
  ls: { ignored: true, sizes: true },
  write_file: { content: "written" },
  edit_file: { old_string: "a", new_string: "A", replace_all: true },
  glob: { ignored: true, sizes: true },
  grep: { pattern: "ana", ignored: true },
};

function pathsFor(name: FileToolName, hostile: () => string): Record<string, string> {
  if (name === "glob") return { pattern: `${hostile()}**`, path: hostile() };
  if (name === "grep") return { glob: `${hostile()}*`, path: hostile() };
  return { [name === "ls" ? "path" : "file_path"]: hostile() };
}

const LINKS = {
  "link-dir": "../outside",
  "dir/link-rel": "../../outside",
  "link-file": "../outside/secret.txt",
  "link-up": "..",
  "link-loop": "link-loop",
  "link-dangling": "../outside/not-yet.txt",
  "link-git": ".git",
};
const PLAIN_NAMES: readonly string[] = [
  ["dir", "root", "outside", "secret.txt", "not-yet.txt", "a.txt", "new", "config"],
  [".git", ".GIT", ".git.", ".git ", ".g\u200Cit", "GIT~1", ".git::$INDEX_ALLOCATION"],
  Object.keys(LINKS).map((path) => path.slice(path.lastIndexOf("/") + 1)),
].flat();
const NAMES: readonly string[] = [
  PLAIN_NAMES,
  "~ C: ? UNC etc passwd proc self cwd fd * ** {..,dir} [.][.]".split(" "),
  ".. . ... .... ..; %2e%2e ..%2f ..%5c %252e%252e ．． ‥".split(" "),
  ["", ".. ", " ..", "\0", "\u202E", "\uD800", "\n", "x".repeat(300)],
].flat();
const SEPARATORS: readonly string[] = ["/", "/", "/", "//", "/./", "\\", "/../", "∕", "%2f", "\0/", ""];
const FRONTS: readonly string[] = [
  "",
  "/",
  "/",
  "//",
  "../",
  "\\\\?\\",
  "C:/",
  "file://",
  "/proc/self/cwd/",
  "~/",
];

/** Makes everything as it was in the beginning. */
function build(base: string): string {
  for (const entry of readdirSync(base)) rmSync(join(base, entry), { recursive: true });
  const [root, outside] = [join(base, "root"), join(base, "outside")];
  for (const folder of [join(root, "dir"), join(root, ".git"), outside])
    mkdirSync(folder, { recursive: true });
  writeFileSync(join(root, "dir", "a.txt"), "inside");
  writeFileSync(join(root, ".git", "config"), SECRET);
  writeFileSync(join(outside, "secret.txt"), SECRET);
  for (const [path, target] of Object.entries(LINKS)) symlinkSync(target, join(root, path));
  return guarded(base);
}

/** All that no call may change: what is outside, the rule's folder, and the links. */
function guarded(base: string): string {
  const contents = (folder: string): string[] =>
    readdirSync(folder, { withFileTypes: true }).map((entry) =>
      entry.isFile() ? `${entry.name} ${readFileSync(join(folder, entry.name), "utf8")}` : entry.name,
    );
  const root = join(base, "root");
  const links = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isSymbolicLink());
  const names = links.map(({ name }) => name);
  return JSON.stringify(
    [base, join(base, "outside"), join(root, ".git")].map(contents).concat(names.toSorted()),
  );
}
