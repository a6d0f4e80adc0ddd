import { posix } from "node:path";
import { parseSync, Visitor } from "oxc-parser";

const engine = ["decision", "errors", "marks", "plan", "vocabulary"];
const stores = [...engine, "files", "storage"];
const wrapped = [...stores, "langgraph", "middleware", "models"];
const agents = [...wrapped, "subagents", "mcp", "web"];
const harnesses = [...agents, "deep", "lead"];
const langchain = ["langchain", "@langchain/*", "zod", "node:*"];
const surface = [...harnesses, "project", "threads", "package-file", "version", "node:*"];
const terminal = ["marked", "yargs", "@clack/prompts", "slice-ansi", "string-width", "wrap-ansi"];

/** Each folder of `src` and what it may import besides itself: other folders, then packages. */
const LAYERS: Record<string, string[]> = {
  errors: [],
  decision: ["plan"],
  marks: ["@langchain/*"],
  vocabulary: [],
  "package-file": ["node:*"],
  version: ["package-file", "node:*"],
  plan: ["errors", "vocabulary", "zod", "jsonrepair"],
  files: [
    ...engine,
    "package-file",
    ...langchain,
    "@anthropic-ai/sandbox-runtime",
    "diff",
    "ignore",
    "minimatch",
    "p-limit",
    "re2js",
  ],
  storage: [...engine, ...langchain, "libsql", "pg"],
  models: ["errors", "marks", "vocabulary", ...langchain],
  langgraph: [...engine, "langchain", "@langchain/*", "zod"],
  middleware: [...wrapped, ...langchain, "yaml"],
  subagents: [...wrapped, "p-limit", ...langchain],
  mcp: [...wrapped, ...langchain, "@modelcontextprotocol/client", "cross-spawn", "diff", "yaml"],
  web: [...engine, "middleware", ...langchain, "htmlparser2"],
  deep: [...agents, ...langchain],
  lead: [...agents, "deep", ...langchain],
  deepagents: [...agents, "deep", ...langchain, "yaml"],
  project: [...stores, "middleware", "mcp", "zod", "unbash", "node:*"],
  threads: [
    ...harnesses,
    "project",
    "package-file",
    "version",
    ...langchain,
    "croner",
    "diff",
    "pg",
    "@dbos-inc/dbos-sdk",
    "@opentelemetry/api",
  ],
  // The command line starts the others.
  // It loads graphs of the user's own by their file's name.
  "surfaces/cli": [
    ...surface,
    ...terminal,
    "surfaces/server",
    "surfaces/acp",
    "surfaces/mcp",
    "zod",
    "@napi-rs/keyring",
    "a computed name",
  ],
  "surfaces/server": [...surface, ...langchain, "hono", "@hono/node-server", "surfaces/mcp"],
  "surfaces/acp": [...surface, ...langchain, "@agentclientprotocol/sdk"],
  "surfaces/mcp": [...surface, ...langchain, "@modelcontextprotocol/server"],
  testing: [...engine, "files", "middleware", "models", ...langchain],
  index: [...harnesses, "vocabulary"],
  exports: [...harnesses, "surfaces/server"],
};

/**
 * The planning core: `planMiddleware` and all that it loads. It runs where LangChain runs, browsers included, so no file
 * of it may import one outside of it, another package, or use what only Node has.
 */
const CORE = [
  "src/decision.ts",
  "src/errors.ts",
  "src/langgraph",
  "src/marks.ts",
  "src/middleware/context-memory",
  "src/middleware/index.ts",
  "src/middleware/options",
  "src/middleware/plan",
  "src/middleware/prices",
  "src/middleware/state",
  "src/middleware/text",
  "src/middleware/tools",
  "src/models/secrets",
  "src/plan",
  "src/vocabulary.ts",
];
const CORE_PACKAGES = ["langchain", "@langchain/*", "zod", "jsonrepair"];
/** Entries of LangChain's packages that import Node built-ins. */
const NODE_ENTRIES = ["@langchain/core/callbacks/dispatch"];
/** As members of `globalThis`, with a way out where they are not there, they may be used. */
const NODE_GLOBALS = ["Buffer", "NodeJS", "clearImmediate", "global", "process", "require", "setImmediate"];

/** Names of LangGraph's insides, and the folders that may know them. */
const INSIDES: readonly { names: RegExp; folders: readonly string[] }[] = [
  {
    names:
      /__pregel_\w*|CONFIG_KEY_\w*|lg_is_pregel|lg_tool_call|(?:nullResume|interruptCounter|subgraphCounter)\b/g,
    folders: ["src/langgraph"],
  },
  // A field of the public interface of checkpointers.
  { names: /\bpendingWrites\b/g, folders: ["src/langgraph", "src/storage", "src/threads"] },
];

/** Globals through which a clock, randomness or I/O would enter the engine, which is pure. */
const IMPURE = ["Date", "Math.random", "crypto", "process", "console", "fetch", "setTimeout", "setInterval"];
const PURE_LAYER = "plan";

/** What reaches a terminal goes through one file each: the streams, what is drawn by others, and what makes it harmless. */
const DOORS: readonly { file: string; only: readonly string[] }[] = [
  { file: "main.ts", only: ["console", "process.stdout", "process.stderr"] },
  {
    file: "prompts.ts",
    only: ["@clack/prompts", "node:readline", "node:readline/promises", "as WriteStream"],
  },
  { file: "output/harmless.ts", only: ["as Harmless"] },
];
const DOORS_LAYER = "surfaces/cli";

const MAX_ROOM_FILES = 12;

const VAGUE = ["utils", "helpers", "common", "compat", "v2"];
const MAX_CODE_LINES = 400;

/** Says what in these source files, given by path, breaks the architecture: one line each. */
export function violations(files: Record<string, string>): string[] {
  const inFiles = Object.entries(files).flatMap(([path, source]) =>
    [...problemsOf(path, source), ...passedDoors(path, source, files)].map(
      (problem) => `${path}: ${problem}`,
    ),
  );
  return [...inFiles, ...crowdedRooms(Object.keys(files))];
}

function crowdedRooms(paths: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const path of paths.filter((one) => !isTest(one)))
    counts.set(posix.dirname(path), (counts.get(posix.dirname(path)) ?? 0) + 1);
  return [...counts]
    .filter(([, count]) => count > MAX_ROOM_FILES)
    .map(([room, count]) => `${room}: has ${count} source files, more than ${MAX_ROOM_FILES}`);
}

/** Files that import each other in a circle, types included: one line for each way round that was found. */
export function circles(files: Record<string, string>): string[] {
  const imports = new Map(
    Object.entries(files).map(([path, source]) => [
      path,
      read(path, source)
        .imports.filter((name) => name.startsWith("."))
        .map((name) => posix.join(path, "..", name)),
    ]),
  );
  const done = new Set<string>();
  const visit = (path: string, way: readonly string[]): string[] => {
    const start = way.indexOf(path);
    if (start >= 0) return [[...way.slice(start), path].join(" → ")];
    if (done.has(path)) return [];
    const found = (imports.get(path) ?? []).flatMap((target) => visit(target, [...way, path]));
    done.add(path);
    return found;
  };
  return [...imports.keys()].flatMap((path) => visit(path, []));
}

/**
 * The packages that are loaded with a source file of a bundle, before anything in it runs: of a re-export, those behind
 * the names that are imported.
 */
export function loadedWith(path: string, files: Record<string, string>): Set<string> {
  const packages = new Set<string>();
  const seen = new Set<string>();
  const follow = (at: string, { from, names }: Load): void => {
    if (!from.startsWith(".")) packages.add(/^(?:@[^/]+\/)?[^/]+/.exec(from)![0]);
    else visit(posix.join(at, "..", from), names);
  };
  const visit = (at: string, names: readonly string[]): void => {
    const { loads, reexports } = read(at, files[at] ?? "");
    // A bundle leaves a file out that only passes on what is imported.
    const isUsed =
      names.length === 0 || names.some((name) => !reexports.some(({ exported }) => exported === name));
    if (isUsed && !seen.has(at)) {
      seen.add(at);
      for (const load of loads) follow(at, load);
    }
    for (const { from, exported, local } of reexports) {
      const key = `${at} ${exported}`;
      if (seen.has(key) || !(names.includes(exported) || names.includes(ALL))) continue;
      seen.add(key);
      follow(at, { from, names: [local] });
    }
  };
  visit(path, [ALL]);
  return packages;
}

/** An import by which a module is loaded, with the names of it that are asked for. */
interface Load {
  from: string;
  names: readonly string[];
}

/** All names of a module. */
const ALL = "*";

function* problemsOf(path: string, source: string): Generator<string> {
  const file = read(path, source);
  const layer = layerOf(path);
  yield* file.problems;

  const vague = path
    .split("/")
    .map((part) => part.split(".")[0] ?? "")
    .filter((part) => VAGUE.includes(part));
  yield* vague.map((name) => `has the vague name ${name}`);

  if (isTest(path)) return;
  const allowed = LAYERS[layer];
  if (!allowed) return yield `${layer} has no layer`;

  const targets = file.imports.map((name) =>
    name.startsWith(".") ? layerOf(posix.join(path, "..", name)) : name,
  );
  const forbidden = targets.filter(
    (target) => target !== layer && !allowed.some((pattern) => matches(target, pattern)),
  );
  yield* forbidden.map((target) => `${layer} may not import ${target}`);

  // The engine may use less than the core anyway.
  if (isCore(path) && layer !== PURE_LAYER) yield* outsideCore(path, file);
  for (const { names, folders } of INSIDES) {
    if (folders.some((folder) => isIn(path, folder))) continue;
    const used = new Set(file.code.match(names));
    yield* [...used].map((name) => `may not know ${name} of LangGraph: ask ${folders[0]}`);
  }
  if (/new URL\([^)]*import\.meta/.test(source)) yield "looks for a file from where it is: use packageFile";
  if (layer === PURE_LAYER) {
    yield* file.names.filter((name) => IMPURE.includes(name)).map((name) => `${layer} may not use ${name}`);
  }
  if (layer === DOORS_LAYER) {
    for (const { file: door, only } of DOORS) {
      if (path === `src/${DOORS_LAYER}/${door}`) continue;
      const used = [...file.names, ...file.imports, ...file.casts].filter((name) => only.includes(name));
      yield* used.map((name) => `only ${door} may use ${name}`);
    }
  }
  if (file.codeLines > MAX_CODE_LINES && !path.endsWith(".prompt.ts")) {
    yield `has ${file.codeLines} code lines, more than ${MAX_CODE_LINES}`;
  }
}

/** Complaints about a file of the core that needs something outside of it. */
function* outsideCore(path: string, { imports, names }: Reading): Generator<string> {
  for (const name of imports) {
    const target = name.startsWith(".") ? posix.join(path, "..", name) : name;
    const isAllowed = name.startsWith(".")
      ? isCore(target)
      : CORE_PACKAGES.some((pattern) => matches(name, pattern)) && !NODE_ENTRIES.includes(name);
    if (!isAllowed) yield `the core may not import ${target}`;
  }
  const used = new Set(names.filter((name) => NODE_GLOBALS.includes(name)));
  yield* [...used].map((name) => `the core may not use ${name}`);
}

function isCore(path: string): boolean {
  return CORE.some((place) => isIn(path, place));
}

function isIn(path: string, place: string): boolean {
  return path === place || path.startsWith(`${place}/`);
}

/**
 * Complaints about imports that enter a room past its door. A folder with an `index.ts` is a room; one without is a part
 * of the room around it. What is imported when it is needed comes by its file: its room would be loaded with it.
 */
function* passedDoors(path: string, source: string, files: Record<string, string>): Generator<string> {
  if (isTest(path)) return;
  const { imports, lazy } = read(path, source);
  for (const name of imports) {
    const target = posix.join(path, "..", name);
    if (!name.startsWith(".") || lazy.includes(name)) continue;
    const room = roomOf(target, files);
    const folder = room ?? posix.dirname(target);
    if (path.startsWith(`${folder}/`) || target === `${folder}/index.ts`) continue;
    if (room) yield `enters ${room} by ${posix.relative(room, target)}: import its index.ts`;
    else if (files[target] !== undefined && folder !== "src") yield `enters ${folder}, which has no index.ts`;
  }
}

/** The innermost folder around a file that has an `index.ts`. */
function roomOf(path: string, files: Record<string, string>): string | undefined {
  const folder = posix.dirname(path);
  if (folder === "src" || folder === ".") return undefined;
  return files[`${folder}/index.ts`] === undefined ? roomOf(folder, files) : folder;
}

function isTest(path: string): boolean {
  return /\.test(-d)?\.ts$/.test(path);
}

/** `src/plan/apply/apply.ts` is in `plan`, `src/errors.ts` in `errors`, `src/surfaces/cli/main.ts` in `surfaces/cli`. */
function layerOf(path: string): string {
  return /^src\/(surfaces\/[^/.]+|[^/.]+)/.exec(path)?.[1] ?? path;
}

function matches(target: string, pattern: string): boolean {
  if (pattern.endsWith("*")) return target.startsWith(pattern.slice(0, -1));
  return target === pattern || target.startsWith(`${pattern}/`);
}

/** What a file imports, loads and names, how long it is, and the exports it must not have. */
function read(path: string, source: string): Reading {
  const key = `${path}\n${source}`;
  const known = readings.get(key) ?? readAnew(path, source);
  readings.set(key, known);
  return known;
}

/** Every question is about the same files. */
const readings = new Map<string, Reading>();
type Reading = ReturnType<typeof readAnew>;

function readAnew(path: string, source: string) {
  const { program, comments, errors } = parseSync(path, source);
  const problems = errors.map((error) => error.message);
  const imports: string[] = [];
  const lazy: string[] = [];
  const loads: Load[] = [];
  const reexports: { from: string; exported: string; local: string }[] = [];
  const names: string[] = [];
  const casts: string[] = [];
  const keys = new WeakSet<object>();

  new Visitor({
    ImportDeclaration: ({ source: name, importKind, specifiers }) => {
      imports.push(name.value);
      if (importKind === "type") return;
      const asked = specifiers.flatMap((one) => {
        if (one.type !== "ImportSpecifier") return [ALL];
        return one.importKind === "type" ? [] : [nameOf(one.imported)];
      });
      loads.push({ from: name.value, names: asked });
    },
    TSImportType: (node) => void imports.push(node.source.value),
    ImportExpression: ({ source: name }) => {
      const value = name.type === "Literal" ? String(name.value) : "a computed name";
      imports.push(value);
      lazy.push(value);
    },
    ExportNamedDeclaration: (node) => {
      if (!node.source) return;
      const from = node.source.value;
      imports.push(from);
      if (node.exportKind === "type") return;
      for (const { exportKind, exported, local } of node.specifiers) {
        if (exportKind !== "type") reexports.push({ from, exported: nameOf(exported), local: nameOf(local) });
      }
    },
    ExportAllDeclaration: (node) => {
      imports.push(node.source.value);
      problems.push("has an `export *`");
    },
    ExportDefaultDeclaration: () => void problems.push("has a default export"),
    ExportSpecifier: ({ exported }) => {
      const isDefault = exported.type === "Identifier" && exported.name === "default";
      if (isDefault) problems.push("has a default export");
    },
    MemberExpression: ({ object, property, computed }) => {
      if (computed) return;
      keys.add(property);
      if (object.type === "Identifier" && property.type === "Identifier") {
        names.push(`${object.name}.${property.name}`);
      }
    },
    Property: ({ key, computed, shorthand }) => {
      if (!computed && !shorthand) keys.add(key);
    },
    VariableDeclarator: ({ id, init }) => {
      if (id.type !== "ObjectPattern" || init?.type !== "Identifier") return;
      for (const property of id.properties) {
        if (property.type === "Property" && property.key.type === "Identifier") {
          names.push(`${init.name}.${property.key.name}`);
        }
      }
    },
    TSAsExpression: ({ typeAnnotation: { start, end } }) => {
      for (const [word] of source.slice(start, end).matchAll(/\w+/g)) casts.push(`as ${word}`);
    },
    TSPropertySignature: ({ key }) => void keys.add(key),
    Identifier: (node) => {
      if (!keys.has(node)) names.push(node.name);
    },
  }).visit(program);

  const code = comments.reduceRight((text, { start, end }) => text.slice(0, start) + text.slice(end), source);
  const codeLines = code.split("\n").filter((line) => line.trim()).length;
  return { imports, lazy, loads, reexports, names, casts, problems, code, codeLines };
}

function nameOf(name: { type: string; name?: string; value?: string }): string {
  return name.name ?? name.value ?? "";
}
