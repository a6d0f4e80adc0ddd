import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseSync } from "oxc-parser";
import manifest from "../../../package.json" with { type: "json" };

/** The subpaths of the package that are modules. */
export const modules = Object.keys(manifest.exports).filter(
  (subpath) => typeof manifest.exports[subpath as keyof typeof manifest.exports] !== "string",
);

/** The source of an entry: `./dist/plan/index.js` is built from `src/plan/index.ts`. */
export function sourceOf(subpath: string): string {
  const { default: built } = manifest.exports[subpath as "."];
  return built.replace("./dist/", "src/").replace(/\.js$/, ".ts");
}

/** A name that a module exports. */
export interface ExportedName {
  name: string;
  isType: boolean;
  /** The source file with its declaration. */
  file: string;
  /** The doc comment in front of its declaration. */
  comment: string | undefined;
}

/** The names that a module exports, found where they are declared. Many lead through the same doors. */
export function exportsOf(file: string): ExportedName[] {
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
      return [{ name, isType: isType || isDeclaredType, file, comment: isDoc ? comment.value : undefined }];
    }),
  );
}

const parsed = new Map<string, ReturnType<typeof parseSync>>();

function parse(file: string): ReturnType<typeof parseSync> {
  if (!parsed.has(file)) parsed.set(file, parseSync(file, readFileSync(file, "utf8")));
  return parsed.get(file)!;
}
