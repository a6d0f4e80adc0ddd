import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** A file of the package, by its path from the root. The package is built into few files: none has a place to look from. */
export function packageFile(path: string): string {
  return join(dirname(createRequire(import.meta.url).resolve("holdfast/package.json")), path);
}

/** Whether this is the source, as tests and examples use it, and not the built package. */
export const isSource = import.meta.url.endsWith(".ts");
