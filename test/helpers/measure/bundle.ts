import { isBuiltin } from "node:module";
import { build } from "esbuild";

/** The most bytes, minified, of the planning core and of its engine, with LangChain's packages left out. */
export const MOST_BYTES = { core: 135_000, engine: 57_000 };

/** A bundle of a module, for a browser and without shims. */
export interface Bundle {
  code: string;
  /** The packages that it imports, which the page has to bring. */
  packages: string[];
  /** The packages that are in it. */
  contained: string[];
}

/** Bundles a module as esbuild does for browsers, minified; fails where it needs a Node built-in. */
export async function bundleForBrowser(
  contents: string,
  external: string[] = [],
  resolveDir = process.cwd(),
): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir, loader: "ts" },
    bundle: true,
    minify: true,
    platform: "browser",
    format: "esm",
    external,
    metafile: true,
    write: false,
    logLevel: "silent",
  });
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports.map(({ path }) => path));
  const builtins = imports.filter((path) => isBuiltin(path));
  if (builtins.length > 0) throw new Error(`It imports ${builtins.join(", ")}.`);
  const folders = Object.keys(metafile.inputs).flatMap(
    (path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? [],
  );
  return {
    code: outputFiles[0]!.text,
    packages: [...new Set(imports.map((path) => /^(?:@[^/]+\/)?[^/]+/.exec(path)![0]))].toSorted(),
    contained: [...new Set(folders)].toSorted(),
  };
}
