import { createRequire } from "node:module";
import { isSource } from "../../../package-file.ts";

/** One thing that was looked at. `note` is for information, `problem` for what keeps a run from working. */
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
  /** Whether it was tried out, and not only seen. */
  tested: boolean;
  text: string;
  /** The remedy. */
  fix?: string;
}

/** The state of an optional package; undefined where it is not installed. */
export function packageState(name: string): "installed" | "included" | undefined {
  try {
    createRequire(import.meta.url).resolve(name);
    return "installed";
  } catch (error) {
    // One without a way in for require is there, too.
    if ((error as NodeJS.ErrnoException).code !== "MODULE_NOT_FOUND") return "installed";
    // The built command has it inside (decision 30).
    return isSource ? undefined : "included";
  }
}
