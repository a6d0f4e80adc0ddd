import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseSync } from "oxc-parser";
import { describe, expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };

const modules = Object.keys(manifest.exports).filter(
  (subpath) => typeof manifest.exports[subpath as keyof typeof manifest.exports] !== "string",
);
const files = Object.values(manifest.exports).filter((target) => typeof target === "string");
const guides = ["README.md", ...readdirSync("docs", { recursive: true, encoding: "utf8" })]
  .filter((path) => path.endsWith(".md") && !path.startsWith("decisions"))
  .map((path) => readFileSync(path === "README.md" ? path : join("docs", path), "utf8"))
  .join("\n");

// Their types are resolved as consumers do in a release run (`test/release`).
describe.each(modules)("the export %s", (subpath) => {
  it("keeps its names", async () => {
    const built = (await import(subpath.replace(".", manifest.name))) as object;
    expect(Object.keys(built).toSorted()).toMatchSnapshot();
  });

  it("describes each name, for its page of the reference", () => {
    const names = exportsOf(sourceOf(subpath));
    const described = new Set(names.filter(({ comment }) => comment).map(({ name }) => name));
    expect(names.map(({ name }) => name).filter((name) => !described.has(name))).toEqual([]);
  });

  it("has each function, class and constant on a page of the documentation", () => {
    const values = exportsOf(sourceOf(subpath)).filter(({ isType }) => !isType);
    expect(
      values.map(({ name }) => name).filter((name) => !new RegExp(`\\b${name}\\b`).test(guides)),
    ).toEqual([]);
  });
});

it.each(files)("the file %s is there", (file) => {
  expect(existsSync(file)).toBe(true);
});

/** The source of an entry: `./dist/plan/index.js` is built from `src/plan/index.ts`. */
function sourceOf(subpath: string): string {
  const { default: built } = manifest.exports[subpath as "."];
  return built.replace("./dist/", "src/").replace(/\.js$/, ".ts");
}

interface ExportedName {
  name: string;
  isType: boolean;
  /** The doc comment in front of its declaration. */
  comment: string | undefined;
}

/** The names that a module exports, found where they are declared. Many lead through the same doors. */
function exportsOf(file: string): ExportedName[] {
  const names = found.get(file) ?? findExports(file);
  found.set(file, names);
  return names;
}

const found = new Map<string, ExportedName[]>();
function findExports(file: string): ExportedName[] {
  const { comments, module, program } = parse(file);
  return module.staticExports.flatMap(({ entries, start }) =>
    entries.flatMap(({ exportName, importName, isType, moduleRequest }) => {
      const name = exportName.name!;
      if (moduleRequest) {
        const there = exportsOf(join(dirname(file), moduleRequest.value));
        const ones = there.filter((one) => one.name === importName.name);
        return ones.map((one) => ({ ...one, name, isType: isType || one.isType }));
      }
      const comment = comments.findLast(({ end }) => end <= start);
      const isBeside = comment && /^\s*$/.test(readFileSync(file, "utf8").slice(comment.end, start));
      const isDoc = isBeside && comment.type === "Block" && comment.value.startsWith("*");
      const declaration = program.body.find((node) => node.start === start);
      const kind = "declaration" in declaration! ? declaration.declaration?.type : undefined;
      const isDeclaredType = kind === "TSInterfaceDeclaration" || kind === "TSTypeAliasDeclaration";
      return [{ name, isType: isType || isDeclaredType, comment: isDoc ? comment.value : undefined }];
    }),
  );
}

const parsed = new Map<string, ReturnType<typeof parseSync>>();
function parse(file: string): ReturnType<typeof parseSync> {
  if (!parsed.has(file)) parsed.set(file, parseSync(file, readFileSync(file, "utf8")));
  return parsed.get(file)!;
}

it("install commands in the source name the pinned version of a peer", () => {
  const peers: Record<string, string> = manifest.peerDependencies;
  const sources = readdirSync("src", { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"))
    .map((path) => readFileSync(join("src", path), "utf8"));
  const commands = sources.flatMap((source) => [
    ...source.matchAll(/npm install (@?[\w/-]+)(?:@([\w.]+))?/g),
  ]);
  expect(commands.length).toBeGreaterThan(4);
  const wrong = commands.filter(([, name = "", version]) => {
    const range = peers[name] ?? "";
    return /^\d/.test(range) && version !== range;
  });
  expect(wrong.map(([text]) => text)).toEqual([]);
});
