import { HarnessError } from "../../errors.ts";
import type { FileBackend, FileEntry, FileResult } from "../backend/backend.ts";
import { relocate } from "../backend/failures.ts";
import { isWithin, nameOf, parsePath, pathIn, segmentsOf } from "../paths/paths.ts";

/** A backend whose root is shown at some folder. */
export class Mount {
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

/** Finds the backend of each path. */
export class Mounts {
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
