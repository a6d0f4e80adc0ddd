/** Folders that hold what tools made or fetched, not what the project is. */
export const LEFT_OUT_FOLDERS: readonly string[] = [
  ".cache",
  ".git",
  ".gradle",
  ".hg",
  ".holdfast",
  ".mypy_cache",
  ".next",
  ".nuxt",
  ".pytest_cache",
  ".svn",
  ".terraform",
  ".tox",
  ".turbo",
  ".venv",
  "__pycache__",
  "bower_components",
  "build",
  "coverage",
  "dist",
  "node_modules",
  "target",
  "vendor",
  "venv",
];

/** Where the survey is written, and where it goes when somebody else's file is there. */
export const REPORTS = ["/survey.md", "/survey-offline.md"] as const;

/** Where the harness keeps long tool results. */
const RESULTS = "/tool_results";

/** Whether a folder is left out. */
export function isLeftOut(folder: string): boolean {
  return folder === RESULTS || LEFT_OUT_FOLDERS.includes(folder.slice(folder.lastIndexOf("/") + 1));
}

/** Whether a file is one of the survey's own, or in a folder that is left out. `base` is the folder surveyed. */
export function isLeftOutFile(path: string, base: string): boolean {
  if (REPORTS.some((report) => report === path)) return true;
  const inside = path.slice(base === "/" ? 1 : base.length + 1).split("/");
  return inside.slice(0, -1).some((name, at) => {
    const folder = `${base === "/" ? "" : base}/${inside.slice(0, at + 1).join("/")}`;
    return name !== "" && isLeftOut(folder);
  });
}
