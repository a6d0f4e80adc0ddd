// Prints the figures of the source: its size, its rooms, the imports between them, and the files that three journeys
// run. `npm run figures`; `npm run figures -- --names` also lists the names that are defined in several places.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";

const MOST_FILES = 12;
const SMALL = 40;

const isSource = (path) => /\.(ts|tsx|css)$/.test(path) && !/\.test(-d)?\.tsx?$/.test(path);
const paths = ["src", "web/src"]
  .flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) =>
      posix.join(folder, name.replaceAll("\\", "/")),
    ),
  )
  .filter(isSource)
  .toSorted();
const texts = new Map(paths.map((path) => [path, readFileSync(path, "utf8")]));
const linesOf = (path) => texts.get(path).split("\n").length - 1;

function groupBy(items, keyOf) {
  const groups = new Map();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

/** Every import of another source file, as a pair of paths. */
const imports = paths.flatMap((from) =>
  [...texts.get(from).matchAll(/(?:from|import|import\()\s*["'](\.[^"']+)["']/g)]
    .map(([text, name]) => [from, posix.join(from, "..", name), text.startsWith("import(")])
    .filter(([, to]) => texts.has(to)),
);

const rooms = groupBy(paths, (path) => posix.dirname(path));
const crowded = [...rooms].filter(([, files]) => files.length > MOST_FILES);

/** The innermost folder around a file that has an `index.ts`, which is its door; else the file's own folder. */
function roomOf(path) {
  let folder = posix.dirname(path);
  while (folder !== "src" && folder !== "." && !texts.has(`${folder}/index.ts`))
    folder = posix.dirname(folder);
  return folder === "src" || folder === "." ? posix.dirname(path) : folder;
}

/** An import of a file in another room. What is loaded when it is needed has no door, nor has the page one. */
const isPastDoor = ([from, to, isLazy]) => {
  const room = roomOf(to);
  if (isLazy || !from.startsWith("src/") || room === "src") return false;
  return !from.startsWith(`${room}/`) && to !== `${room}/index.ts`;
};
const importers = groupBy(imports, ([, to]) => to);
const single = [...importers].filter(
  ([to, all]) => all.length === 1 && linesOf(to) < SMALL && !/(\.prompt|\/index)\.ts$/.test(to),
);

/** The source files that are loaded with a file. */
function loadedWith(path, seen = new Set()) {
  if (seen.has(path)) return seen;
  seen.add(path);
  const isType = (name) =>
    new RegExp(`import type [^;]*["']${name.replaceAll(".", "\\.")}["']`).test(texts.get(path));
  for (const [, name] of texts.get(path).matchAll(/from\s*["'](\.[^"']+)["']/g)) {
    const to = posix.join(path, "..", name);
    if (texts.has(to) && !isType(name)) loadedWith(to, seen);
  }
  return seen;
}

/** The names that several files declare and export, with those files. */
function sharedNames() {
  const declaration =
    /^export (?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm;
  const places = [...texts].flatMap(([path, text]) =>
    [...new Set([...text.matchAll(declaration)].map(([, name]) => name))].map((name) => ({ name, path })),
  );
  return [...groupBy(places, ({ name }) => name)]
    .filter(([, all]) => all.length > 1)
    .toSorted(([, a], [, b]) => b.length - a.length);
}

/** How often a pattern occurs in the source, outside of `except`. */
const count = (pattern, except = []) =>
  [...texts].reduce(
    (sum, [path, text]) => sum + (except.includes(path) ? 0 : (text.match(pattern)?.length ?? 0)),
    0,
  );

const MARKS = "src/marks.ts";
/** Keys of `marks.ts`, and symbols and prefixed keys that are defined elsewhere. */
const privateMarks =
  [...texts.get(MARKS).matchAll(/^ {2}\w+\??: /gm)].length +
  count(/\bSymbol\("|= "(?:__)?holdfast_\w+"/g, [MARKS]);

function journeys() {
  const args = ["--import", "tsx", "scripts/journeys.ts"];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" }).trim().split("\n").at(-1));
}

const shared = sharedNames();
const { report, firstRequest, rejection } = journeys();
const figures = {
  "lines of source": paths.reduce((sum, path) => sum + linesOf(path), 0),
  "source files": paths.length,
  folders: rooms.size,
  [`folders with more than ${MOST_FILES} files`]: crowded.length,
  "files in such folders": crowded.reduce((sum, [, files]) => sum + files.length, 0),
  "imports between files": imports.length,
  "imports past a door": imports.filter(isPastDoor).length,
  [`files under ${SMALL} lines with one importer`]: single.length,
  "literals of thread_id": [...texts.values()].reduce(
    (sum, text) => sum + (text.match(/configurable: \{[^}]*thread_id:/g)?.length ?? 0),
    0,
  ),
  "files loaded with planMiddleware": loadedWith("src/middleware/plan/index.ts").size,
  "files that run from a plan report to the state": report.length,
  "files that run from `holdfast run` to the first model request": firstRequest.length,
  "files that run from a rejection on the page to the next model request": rejection.length,
  "names that more than one file exports": shared.length,
  "private marks": privateMarks,
  "conditional spreads": count(/\.\.\.\([^\n]*?&& \{/g),
};
for (const [name, value] of Object.entries(figures)) console.log(`${String(value).padStart(7)}  ${name}`);
for (const [room, files] of crowded) console.log(`         ${room}: ${files.length}`);
if (process.argv.includes("--names"))
  for (const [name, all] of shared)
    console.log(`${String(all.length).padStart(7)}  ${name}: ${all.map(({ path }) => path).join(" ")}`);
