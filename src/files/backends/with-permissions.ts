import {
  type Failure,
  type FileBackend,
  type FileResult,
  fail,
  noSuchFile,
  pathsIn,
} from "../backend/index.ts";
import { OBEYED, parsePath, compileRules, type FileAction, type PermissionRule } from "../paths/index.ts";

const DOING: Readonly<Record<FileAction, string>> = {
  read: "Reading",
  write: "Writing",
  delete: "Deleting",
  execute: "Running commands in",
};

/**
 * The backend, held to rules: what is not allowed is refused or, in listings and searches, not there. An edit
 * needs to read and to write. Commands can do anything that a shell can, whatever the rules for files say, so
 * as soon as one of those denies something, `execute` is gone unless a rule allows "execute" by name.
 */
export function withPermissions(backend: FileBackend, rules: readonly PermissionRule[]): FileBackend {
  const { check, mayEnter } = compileRules(rules);
  const mayRead = (path: string): boolean => check("read", path).allowed;

  const guarded = async <T extends object>(
    raw: string,
    actions: readonly FileAction[],
    act: () => Promise<FileResult<T>>,
    isAllowed = (action: FileAction, path: string): boolean => check(action, path).allowed,
  ): Promise<FileResult<T>> => {
    const parsed = parsePath(raw);
    if (!parsed.ok) return parsed;
    const { path } = parsed;
    const denied = actions.find((action) => !isAllowed(action, path));
    if (denied) return refusal(denied, path, check(denied, path).rule);
    const result = await act();
    // A failure must not suggest what may not be seen.
    const isTelling = !result.ok && result.reason === "missing" && !pathsIn(result).every(mayEnter);
    return isTelling ? noSuchFile(path) : result;
  };
  const inFolder = <T extends object>(
    raw: string,
    act: () => Promise<FileResult<T>>,
  ): Promise<FileResult<T>> => guarded(raw, ["read"], act, (_, path) => mayEnter(path));

  /** Why a folder cannot be deleted with all that is in it, if it is one. */
  const keptIn = async (folder: string): Promise<Failure | undefined> => {
    if (!(await backend.list(folder)).ok) return undefined;
    const found = await backend.glob("**", { path: folder, ignored: true });
    if (!found.ok) return found;
    const kept = found.paths.find((path) => !check("delete", path).allowed);
    if (kept !== undefined && mayRead(kept)) return refusal("delete", kept, check("delete", kept).rule);
    if (kept === undefined && (found.notes ?? []).length === 0) return undefined;
    return fail(`"${folder}" was not deleted: not all that is in it may be.`, "denied");
  };

  const seenNotes = (notes: readonly string[] = []): string[] =>
    notes.filter((note) => pathsIn({ ok: false, error: note }).every(mayEnter));

  return {
    list: (path, options) =>
      inFolder(path, async () => {
        const listed = await backend.list(path, options);
        if (!listed.ok) return listed;
        const seen = listed.entries.filter((entry) => (entry.isDirectory ? mayEnter : mayRead)(entry.path));
        return { ok: true, entries: seen };
      }),
    read: (path) => guarded(path, ["read"], () => backend.read(path)),
    readBytes: (path) => guarded(path, ["read"], () => backend.readBytes(path)),
    write: (path, content) => guarded(path, ["write"], () => backend.write(path, content)),
    writeBytes: (path, bytes) => guarded(path, ["write"], () => backend.writeBytes(path, bytes)),
    delete: (path) => guarded(path, ["delete"], async () => (await keptIn(path)) ?? backend.delete(path)),
    edit: (path, edit) => guarded(path, ["read", "write"], () => backend.edit(path, edit)),
    glob: (pattern, scope = {}) =>
      inFolder(scope.path ?? "/", async () => {
        const include = (path: string): boolean => mayRead(path) && (scope.include?.(path) ?? true);
        const found = await backend.glob(pattern, { ...scope, include });
        if (!found.ok) return found;
        const notes = seenNotes(found.notes);
        return { ok: true, paths: found.paths.filter(mayRead), ...(notes.length > 0 && { notes }) };
      }),
    grep: (query) =>
      inFolder(query.path ?? "/", async () => {
        const include = (path: string): boolean => mayRead(path) && (query.include?.(path) ?? true);
        const found = await backend.grep({ ...query, include });
        if (!found.ok) return found;
        const files = found.files.filter(({ path }) => mayRead(path));
        return { ok: true, files, notes: seenNotes(found.notes) };
      }),
    route: (path) => ({ backend, path }),
    ...(backend.locate && { locate: backend.locate.bind(backend) }),
    ...(backend.place && { place: backend.place.bind(backend) }),
    ...(backend.execute && mayExecute(rules) && { execute: backend.execute.bind(backend) }),
  };
}

function mayExecute(rules: readonly PermissionRule[]): boolean {
  const byName = rules.some(
    ({ effect, operations }) => effect === "allow" && operations?.includes("execute"),
  );
  const deniesFiles = rules.some(
    ({ effect, operations }) =>
      effect === "deny" && (operations?.some((action) => action !== "execute") ?? true),
  );
  return compileRules(rules).check("execute", "/").allowed && (byName || !deniesFiles);
}

function refusal(action: FileAction, path: string, rule = "a rule"): Failure {
  return fail(`${DOING[action]} "${path}" is not allowed by ${rule}.`, "denied");
}

/**
 * A rule for `permissions`: file tools leave alone what git and agents run or obey for the user, in every folder. The
 * files of a `shellBackend` are held to it.
 */
export const FROZEN_FILES: PermissionRule = {
  effect: "deny",
  operations: ["write", "delete"],
  paths: OBEYED.flatMap(({ frozen }) => frozen ?? []).map((path) => `**/${path}`),
};
