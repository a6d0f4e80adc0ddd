import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** A file of the package, by its path from the root. Relative paths do not work: the build bundles the files. */
export function packageFile(path: string): string {
  return join(dirname(createRequire(import.meta.url).resolve("holdfast/package.json")), path);
}

/** Whether this code runs from source, as in tests and examples, not from the built package. */
export const isSource = import.meta.url.endsWith(".ts");
