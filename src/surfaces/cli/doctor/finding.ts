import { createRequire } from "node:module";
import { isSource } from "../../../package-file.ts";

/** The result of one check. `note` is information, `problem` prevents runs from working. */
export interface Finding {
  area:
    | "version"
    | "model"
    | "provider"
    | "project"
    | "storage"
    | "mcp"
    | "sandbox"
    | "editor"
    | "terminal"
    | "traces";
  level: "ok" | "note" | "problem";
  /** Whether it was tried out, as opposed to only detected. */
  tested: boolean;
  text: string;
  /** The remedy. */
  fix?: string;
}

/** The state of an optional package; undefined if it is not installed. */
export function packageState(name: string): "installed" | "included" | undefined {
  try {
    createRequire(import.meta.url).resolve(name);
    return "installed";
  } catch (error) {
    // A package without an entry for `require` is installed too.
    if ((error as NodeJS.ErrnoException).code !== "MODULE_NOT_FOUND") return "installed";
    // The built command bundles it (decision 30).
    return isSource ? undefined : "included";
  }
}
