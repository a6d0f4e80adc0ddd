import { HarnessError } from "../../errors.ts";
import {
  type Failure,
  type FileBackend,
  type FileResult,
  type SearchScope,
  type FileEntry,
  notAFile,
  relocate,
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
 * Throws for a mount that cannot be.
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

  /** Why a path cannot be written or deleted: another backend is somewhere below. */
  const mountedIn = (raw: string): Failure | undefined => {
    const parsed = parsePath(raw);
    return parsed.ok && all.entriesOf(parsed.path).length > 0 ? notAFile(parsed.path) : undefined;
  };

  return {
    async list(raw, options) {
      const parsed = parsePath(raw);
      if (!parsed.ok) return parsed;
      const folder = parsed.path;
      const mounted = all.entriesOf(folder);
      const listed = await on(folder, (backend, path) => backend.list(path, options));
      if (!listed.ok && (listed.reason !== "missing" || mounted.length === 0)) return listed;
      const own = (listed.ok ? listed.entries : [])
        .map((entry) => ({ ...entry, path: pathIn(folder, entry.name) }))
        .filter(({ path }) => mounted.every((entry) => entry.path !== path));
      return { ok: true, entries: [...own, ...mounted].toSorted((a, b) => inOrder(a.name, b.name)) };
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
      const wanted = (file: string): boolean => compiled.glob.matches(file) && include(file);
      const results = await searchAll(all, parsed.path, wanted, async (mount, scope) =>
        mount.backend.glob(mount.at === "/" ? pattern : "**", { ...scope, signal, ignored }),
      );
      if (!results.ok) return results;
      const paths = results.found.flatMap(([mount, result]) => result.paths.map((file) => mount.outer(file)));
      const notes = notesOf(results.found);
      return {
        ok: true,
        paths: paths.filter(wanted).toSorted(inOrder),
        ...(notes.length > 0 && { notes }),
      };
    },

    async grep(query) {
      const { path = "/", include = () => true } = query;
      const parsed = parsePath(path);
      if (!parsed.ok) return parsed;
      const filter = query.glob === undefined ? undefined : compileFilter(query.glob, parsed.path);
      if (filter && !filter.ok) return filter;
      const wanted = (file: string): boolean => (filter?.glob.matches(file) ?? true) && include(file);
      const results = await searchAll(all, parsed.path, wanted, async (mount, scope) =>
        mount.backend.grep({ ...query, ...scope, glob: mount.at === "/" ? query.glob : undefined }),
      );
      if (!results.ok) return results;
      const files = results.found.flatMap(([mount, result]) =>
        result.files.map((file) => ({ ...file, path: mount.outer(file.path) })),
      );
      const notes = notesOf(results.found);
      const inPathOrder = files
        .filter((file) => wanted(file.path))
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
}

function notesOf(found: readonly [Mount, { notes?: readonly string[] }][]): string[] {
  return found.flatMap(([mount, { notes = [] }]) =>
    notes.map((note) => relocate({ ok: false, error: note }, (file) => mount.outer(file)).error),
  );
}

/** Searches a folder in every backend that has a part of it. What a mount covers in another is not seen. */
async function searchAll<T extends object>(
  mounts: Mounts,
  folder: string,
  wanted: (path: string) => boolean,
  act: (mount: Mount, scope: Required<Pick<SearchScope, "path" | "include">>) => Promise<FileResult<T>>,
): Promise<FileResult<{ found: [Mount, T][] }>> {
  const found: [Mount, T][] = [];
  const [home, ...below] = mounts.under(folder);
  for (const mount of [home!, ...below]) {
    const path = mount === home ? mount.inner(folder) : "/";
    const include = (file: string): boolean => {
      const outer = mount.outer(file);
      return mounts.of(outer) === mount && wanted(outer);
    };
    const result = mount.outward(await act(mount, { path, include }));
    if (result.ok) found.push([mount, result]);
    else if (mount !== home || below.length === 0 || result.reason !== "missing") return result;
  }
  return { ok: true, found };
}

/** A backend whose root is shown at some folder. */
class Mount {
  readonly at: string;
  readonly backend: FileBackend;

  constructor(at: string, backend: FileBackend) {
    this.at = at;
    this.backend = backend;
  }

  /** The backend's own path for one that is shown. */
  inner(path: string): string {
    return this.at === "/" ? path : path.slice(this.at.length) || "/";
  }

  /** The path that is shown for one of the backend's own. */
  outer(path: string): string {
    return path === "/" ? this.at : pathIn(this.at, path.slice(1));
  }

  /** A result of the backend, which speaks in the paths that are shown if it failed. */
  outward<T extends object>(result: FileResult<T>): FileResult<T> {
    return result.ok ? result : relocate(result, (path) => this.outer(path));
  }
}

class Mounts {
  /** The longest paths first; the main backend is last. */
  readonly #all: readonly Mount[];

  constructor(main: FileBackend, mounts: Record<string, FileBackend>) {
    const named = Object.entries(mounts).map(([prefix, backend]) => new Mount(mountPath(prefix), backend));
    const twice = named.find(({ at }, index) => named.findIndex((other) => other.at === at) !== index);
    if (twice) throw new HarnessError("invalid-options", `Two backends are mounted at "${twice.at}".`);
    this.#all = [...named, new Mount("/", main)].toSorted((a, b) => b.at.length - a.at.length);
  }

  of(path: string): Mount {
    return this.#all.find(({ at }) => isWithin(path, at))!;
  }

  /** The backends with a part of a folder: its own first, then those mounted in it. */
  under(folder: string): Mount[] {
    return [this.of(folder), ...this.#all.filter(({ at }) => at !== folder && isWithin(at, folder))];
  }

  /** The entries that a folder has because something is mounted in it, or further down. */
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
