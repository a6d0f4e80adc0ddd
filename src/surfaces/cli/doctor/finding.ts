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
