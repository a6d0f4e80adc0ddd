import {
  type Failure,
  type FileBackend,
  type FileResult,
  fail,
  noSuchFile,
  pathsIn,
} from "../backend/index.ts";
import { OBEYED, parsePath, compileRules, type FileAction, type PermissionRule } from "../paths/index.ts";

const ACTIVITIES: Readonly<Record<FileAction, string>> = {
  read: "Reading",
  write: "Writing",
  delete: "Deleting",
  execute: "Running commands in",
};

/**
 * Applies rules to a backend: refuses denied actions, and leaves denied files out of listings and searches. An edit
 * needs both read and write. A shell can bypass rules for files, so a rule that denies a file action also removes
 * `execute`, unless a rule allows "execute" by name.
 *
 * @example
 * ```ts
 * import { diskBackend, withPermissions } from "holdfast/files";
 *
 * const backend = withPermissions(diskBackend("./my-project"), [
 *   { effect: "deny", paths: ["/secrets", "/.env"] },
 *   { effect: "deny", operations: ["write", "delete"], paths: "/docs" },
 * ]);
 * ```
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
    // The suggestions of a failure must not reveal hidden files.
    const revealsHidden = !result.ok && result.reason === "missing" && !pathsIn(result.error).every(mayEnter);
    return revealsHidden ? noSuchFile(path) : result;
  };
  const inFolder = <T extends object>(
    raw: string,
    act: () => Promise<FileResult<T>>,
  ): Promise<FileResult<T>> => guarded(raw, ["read"], act, (_, path) => mayEnter(path));

  /** Returns why a folder cannot be deleted with its contents; undefined for a file, or if it can. */
  const deleteRefusal = async (folder: string): Promise<Failure | undefined> => {
    if (!(await backend.list(folder)).ok) return undefined;
    const content = await backend.glob("**", { path: folder, ignored: true });
    if (!content.ok) return content;
    const denied = content.paths.find((path) => !check("delete", path).allowed);
    if (denied !== undefined && mayRead(denied))
      return refusal("delete", denied, check("delete", denied).rule);
    if (denied === undefined && (content.notes ?? []).length === 0) return undefined;
    return fail(`"${folder}" was not deleted: not all that is in it may be.`, "denied");
  };

  const visibleNotes = (notes: readonly string[] = []): string[] =>
    notes.filter((note) => pathsIn(note).every(mayEnter));

  return {
    list: (path, options) =>
      inFolder(path, async () => {
        const result = await backend.list(path, options);
        if (!result.ok) return result;
        const entries = result.entries.filter((entry) =>
          (entry.isDirectory ? mayEnter : mayRead)(entry.path),
        );
        return { ok: true, entries };
      }),
    read: (path) => guarded(path, ["read"], () => backend.read(path)),
    readBytes: (path) => guarded(path, ["read"], () => backend.readBytes(path)),
    write: (path, content) => guarded(path, ["write"], () => backend.write(path, content)),
    writeBytes: (path, bytes) => guarded(path, ["write"], () => backend.writeBytes(path, bytes)),
    delete: (path) =>
      guarded(path, ["delete"], async () => (await deleteRefusal(path)) ?? backend.delete(path)),
    edit: (path, edit) => guarded(path, ["read", "write"], () => backend.edit(path, edit)),
    glob: (pattern, scope = {}) =>
      inFolder(scope.path ?? "/", async () => {
        const include = (path: string): boolean => mayRead(path) && (scope.include?.(path) ?? true);
        const result = await backend.glob(pattern, { ...scope, include });
        if (!result.ok) return result;
        const notes = visibleNotes(result.notes);
        return { ok: true, paths: result.paths.filter(mayRead), ...(notes.length > 0 && { notes }) };
      }),
    grep: (query) =>
      inFolder(query.path ?? "/", async () => {
        const include = (path: string): boolean => mayRead(path) && (query.include?.(path) ?? true);
        const result = await backend.grep({ ...query, include });
        if (!result.ok) return result;
        const files = result.files.filter(({ path }) => mayRead(path));
        return { ok: true, files, notes: visibleNotes(result.notes) };
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
  return fail(`${ACTIVITIES[action]} "${path}" is not allowed by ${rule}.`, "denied");
}

/**
 * A rule for `permissions` that keeps file tools from changing what git and agents run or obey for the user, in every
 * folder. A `shellBackend` applies it to its files.
 */
export const FROZEN_FILES: PermissionRule = {
  effect: "deny",
  operations: ["write", "delete"],
  paths: OBEYED.flatMap(({ frozen }) => frozen ?? []).map((path) => `**/${path}`),
};
