import { HarnessError } from "../../errors.ts";
import {
  type Failure,
  type FileBackend,
  type FileResult,
  type SearchScope,
  type FileEntry,
  notAFile,
  renamePaths,
} from "../backend/index.ts";
import {
  inOrder,
  parsePath,
  pathIn,
  isWithin,
  nameOf,
  segmentsOf,
  compileFilter,
  compileGlob,
} from "../paths/index.ts";
import { capMatches } from "../search/index.ts";

/**
 * Several backends as one, such as `{ "/memories/": storeBackend(…) }`: a path belongs to the mount with the
 * longest prefix, else to `main`. Searches go through all of them. Commands run in `main`, if it runs any.
 * Throws for a mount at the root, at an invalid path, or at the path of another mount.
 *
 * @example
 * ```ts
 * import { createDeepAgent } from "holdfast";
 * import { compositeBackend, diskBackend, shellBackend } from "holdfast/files";
 *
 * const mounts = { "/memories/": diskBackend("./memories") };
 * const backend = compositeBackend(shellBackend("./my-project"), mounts);
 * const agent = createDeepAgent({ model: "openai:gpt-5.1", backend });
 * ```
 */
export function compositeBackend(main: FileBackend, mounts: Record<string, FileBackend>): FileBackend {
  const all = new Mounts(main, mounts);

  const on = async <T extends object>(
    raw: string,
    act: (backend: FileBackend, path: string) => Promise<FileResult<T>>,
  ): Promise<FileResult<T>> => {
    const parsed = parsePath(raw);
    if (!parsed.ok) return parsed;
    const mount = all.of(parsed.path);
    // The main backend gets the path as it was spelled.
    return mount.outward(await act(mount.backend, mount.at === "/" ? raw : mount.inner(parsed.path)));
  };

  /** Refuses to write or delete a path that has another backend below it. */
  const mountedIn = (raw: string): Failure | undefined => {
    const parsed = parsePath(raw);
    return parsed.ok && all.entriesOf(parsed.path).length > 0 ? notAFile(parsed.path) : undefined;
  };

  /** True for a mounted folder that a dot hides and that has no files: it is only a place for some. */
  const isUnused = async ({ name, path }: FileEntry): Promise<boolean> => {
    if (!name.startsWith(".")) return false;
    const inside = await composite.list(path);
    if (!inside.ok || inside.entries.some(({ isDirectory }) => !isDirectory)) return false;
    const files = await composite.glob("**", { path, ignored: true });
    return files.ok && files.paths.length === 0;
  };

  const composite: FileBackend = {
    async list(raw, options) {
      const parsed = parsePath(raw);
      if (!parsed.ok) return parsed;
      const folder = parsed.path;
      const mounted = all.entriesOf(folder);
      const listing = await on(folder, (backend, path) => backend.list(path, options));
      if (!listing.ok && (listing.reason !== "missing" || mounted.length === 0)) return listing;
      const own = (listing.ok ? listing.entries : [])
        .map((entry) => ({ ...entry, path: pathIn(folder, entry.name) }))
        .filter(({ path }) => mounted.every((entry) => entry.path !== path));
      const shown = await Promise.all(mounted.map(async (entry) => ((await isUnused(entry)) ? [] : [entry])));
      return { ok: true, entries: [...own, ...shown.flat()].toSorted((a, b) => inOrder(a.name, b.name)) };
    },
    read: (raw) => on(raw, (backend, path) => backend.read(path)),
    readBytes: (raw) => on(raw, (backend, path) => backend.readBytes(path)),
    write: async (raw, content) => mountedIn(raw) ?? on(raw, (backend, path) => backend.write(path, content)),
    writeBytes: async (raw, bytes) =>
      mountedIn(raw) ?? on(raw, (backend, path) => backend.writeBytes(path, bytes)),
    delete: async (raw) => mountedIn(raw) ?? on(raw, (backend, path) => backend.delete(path)),
    edit: (raw, edit) => on(raw, (backend, path) => backend.edit(path, edit)),

    async glob(pattern, { path = "/", include = () => true, signal, ignored } = {}) {
      const parsed = parsePath(path);
      if (!parsed.ok) return parsed;
      const compiled = compileGlob(pattern, parsed.path);
      if (!compiled.ok) return compiled;
      const isMatch = (file: string): boolean => compiled.glob.matches(file) && include(file);
      const results = await searchAll(all, parsed.path, isMatch, async (mount, scope) =>
        mount.backend.glob(mount.at === "/" ? pattern : "**", { ...scope, signal, ignored }),
      );
      if (!results.ok) return results;
      const paths = results.parts.flatMap(([mount, result]) => result.paths.map((file) => mount.outer(file)));
      const notes = notesOf(results.parts);
      return {
        ok: true,
        paths: paths.filter(isMatch).toSorted(inOrder),
        ...(notes.length > 0 && { notes }),
      };
    },

    async grep(query) {
      const { path = "/", include = () => true } = query;
      const parsed = parsePath(path);
      if (!parsed.ok) return parsed;
      const filter = query.glob === undefined ? undefined : compileFilter(query.glob, parsed.path);
      if (filter && !filter.ok) return filter;
      const isMatch = (file: string): boolean => (filter?.glob.matches(file) ?? true) && include(file);
      const results = await searchAll(all, parsed.path, isMatch, async (mount, scope) =>
        mount.backend.grep({ ...query, ...scope, glob: mount.at === "/" ? query.glob : undefined }),
      );
      if (!results.ok) return results;
      const files = results.parts.flatMap(([mount, result]) =>
        result.files.map((file) => ({ ...file, path: mount.outer(file.path) })),
      );
      const notes = notesOf(results.parts);
      const inPathOrder = files
        .filter((file) => isMatch(file.path))
        .toSorted((a, b) => inOrder(a.path, b.path));
      return { ok: true, ...capMatches({ files: inPathOrder, notes }, query) };
    },

    route(raw) {
      const parsed = parsePath(raw);
      if (!parsed.ok) return { backend: main, path: raw };
      const mount = all.of(parsed.path);
      return { backend: mount.backend, path: mount.inner(parsed.path) };
    },
    ...(main.locate && { locate: main.locate.bind(main) }),
    ...(main.place && { place: main.place.bind(main) }),
    ...(main.execute && { execute: main.execute.bind(main) }),
  };
  return composite;
}

function notesOf(parts: readonly [Mount, { notes?: readonly string[] }][]): string[] {
  return parts.flatMap(([mount, { notes = [] }]) =>
    notes.map((note) => renamePaths(note, (file) => mount.outer(file))),
  );
}

/** Searches a folder in every backend that has a part of it. Skips files that another mount hides. */
async function searchAll<T extends object>(
  mounts: Mounts,
  folder: string,
  isMatch: (path: string) => boolean,
  act: (mount: Mount, scope: Required<Pick<SearchScope, "path" | "include">>) => Promise<FileResult<T>>,
): Promise<FileResult<{ parts: [Mount, T][] }>> {
  const parts: [Mount, T][] = [];
  const [home, ...below] = mounts.under(folder);
  for (const mount of [home!, ...below]) {
    const path = mount === home ? mount.inner(folder) : "/";
    const include = (file: string): boolean => {
      const outer = mount.outer(file);
      return mounts.of(outer) === mount && isMatch(outer);
    };
    const result = mount.outward(await act(mount, { path, include }));
    if (result.ok) parts.push([mount, result]);
    else if (mount !== home || below.length === 0 || result.reason !== "missing") return result;
  }
  return { ok: true, parts };
}

/** A backend whose root is mounted at a folder. */
class Mount {
  readonly at: string;
  readonly backend: FileBackend;

  constructor(at: string, backend: FileBackend) {
    this.at = at;
    this.backend = backend;
  }

  /** The path in the backend of a path outside. */
  inner(path: string): string {
    return this.at === "/" ? path : path.slice(this.at.length) || "/";
  }

  /** The path outside of a path in the backend. */
  outer(path: string): string {
    return path === "/" ? this.at : pathIn(this.at, path.slice(1));
  }

  /** Translates the paths in a failure of the backend. */
  outward<T extends object>(result: FileResult<T>): FileResult<T> {
    if (result.ok) return result;
    return { ...result, error: renamePaths(result.error, (path) => this.outer(path)) };
  }
}

class Mounts {
  /** Longest paths first; the main backend is last. */
  readonly #all: readonly Mount[];

  constructor(main: FileBackend, mounts: Record<string, FileBackend>) {
    const named = Object.entries(mounts).map(([prefix, backend]) => new Mount(mountPath(prefix), backend));
    const duplicate = named.find(({ at }, index) => named.findIndex((other) => other.at === at) !== index);
    if (duplicate)
      throw new HarnessError("invalid-options", `Two backends are mounted at "${duplicate.at}".`);
    this.#all = [...named, new Mount("/", main)].toSorted((a, b) => b.at.length - a.at.length);
  }

  of(path: string): Mount {
    return this.#all.find(({ at }) => isWithin(path, at))!;
  }

  /** The backends with a part of a folder: its own first, then those mounted in it. */
  under(folder: string): Mount[] {
    return [this.of(folder), ...this.#all.filter(({ at }) => at !== folder && isWithin(at, folder))];
  }

  /** The entries of a folder that lead to mounts, directly or further down. */
  entriesOf(folder: string): FileEntry[] {
    const depth = segmentsOf(folder).length;
    const paths = this.under(folder)
      .slice(1)
      .map(({ at }) => pathIn(folder, segmentsOf(at)[depth]!));
    return [...new Set(paths)].map((path) => ({ name: nameOf(path), path, isDirectory: true }));
  }
}

function mountPath(prefix: string): string {
  const parsed = parsePath(prefix);
  if (parsed.ok && parsed.path !== "/") return parsed.path;
  const reason = parsed.ok ? "it is the root, which the main backend has" : parsed.error;
  throw new HarnessError("invalid-options", `A backend cannot be mounted at "${prefix}": ${reason}.`);
}
