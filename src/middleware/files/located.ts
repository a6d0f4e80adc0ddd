import type { FileBackend } from "../../files/index.ts";
import { parsePath, pathIn, segmentsOf, leadingFolder } from "../../files/paths/index.ts";
import type { FileToolName } from "./schemas.ts";

/** The arguments that are paths, and those that are globs. */
const PATHS = ["path", "file_path"];
const GLOBS: { readonly [Name in FileToolName]?: string } = { glob: "pattern", grep: "glob" };

/**
 * Converts paths of the host in a file tool's arguments to the backend's own. Done here and not in the backend, so that
 * permissions and mounts see the converted path.
 */
export async function located<Args extends object>(
  backend: FileBackend,
  { name, args }: { name: FileToolName; args: Args },
): Promise<Args> {
  if (!backend.locate) return args;
  const changed: Record<string, string> = {};
  for (const [key, value] of Object.entries(args)) {
    if (typeof value !== "string" || !value.startsWith("/")) continue;
    if (PATHS.includes(key)) changed[key] = await locatedPath(backend, value);
    else if (key === GLOBS[name]) changed[key] = await locatedGlob(backend, value);
  }
  return { ...args, ...changed };
}

/** The backend's path for a path of the host. Keeps the original spelling if it is the same path. */
async function locatedPath(backend: FileBackend, raw: string): Promise<string> {
  const parsed = parsePath(raw);
  const path = parsed.ok ? await backend.locate!(parsed.path) : undefined;
  return path === undefined || (parsed.ok && path === parsed.path) ? raw : path;
}

async function locatedGlob(backend: FileBackend, glob: string): Promise<string> {
  const front = leadingFolder(glob);
  const folder = await locatedPath(backend, front);
  if (folder === front) return glob;
  const rest = segmentsOf(glob).slice(segmentsOf(front).length);
  return `${pathIn(folder, rest.join("/"))}${glob.endsWith("/") ? "/" : ""}`;
}
