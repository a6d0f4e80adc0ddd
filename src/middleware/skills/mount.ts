import { fail } from "../../files/backend/index.ts";
import { compositeBackend, createBackend, type FileBackend, type FileResult } from "../../files/index.ts";
import { parsePath, isWithin, parentOf, pathIn, leadingFolder } from "../../files/paths/index.ts";
import type { SkillLibrary } from "./library.ts";
import type { PlacedSkill, Skill } from "./skill.ts";

/**
 * Adds the skills to a backend, read-only. They appear only under their own folders: listings and searches elsewhere do
 * not include them.
 */
export function withSkills(main: FileBackend, library: SkillLibrary): FileBackend {
  /** The backend for a path. */
  const at = async (raw: string): Promise<FileBackend> => {
    const placed = await library.placed();
    const parsed = parsePath(raw);
    if (!parsed.ok || !placed.some((skill) => isWithin(parsed.path, shelfOf(skill)))) return main;
    return compositeBackend(main, Object.fromEntries(placed.map((skill) => [skill.at, readOnly(skill)])));
  };
  return {
    list: async (path, options) => (await at(path)).list(path, options),
    read: async (path) => (await at(path)).read(path),
    readBytes: async (path) => (await at(path)).readBytes(path),
    write: async (path, content) => (await at(path)).write(path, content),
    writeBytes: async (path, bytes) => (await at(path)).writeBytes(path, bytes),
    delete: async (path) => (await at(path)).delete(path),
    edit: async (path, edit) => (await at(path)).edit(path, edit),
    glob: async (pattern, scope = {}) => {
      const folder = pattern.startsWith("/") ? leadingFolder(pattern) : (scope.path ?? "/");
      return (await at(folder)).glob(pattern, scope);
    },
    grep: async (query) => (await at(query.path ?? "/")).grep(query),
    // Writes into a skill are refused, so every other path belongs to `main`.
    route: (path) => ({ backend: main, path }),
    locate: main.locate?.bind(main),
    execute: main.execute
      ? async (command, options) => {
          // Commands of a sandbox see only the files in it.
          if (!main.locate) await copyNamed(main, command, await library.placed());
          return main.execute!(command, options);
        }
      : undefined,
  };
}

/** The folder that contains a skill's folder if it is one of ours, else the skill's own. */
function shelfOf({ at, name, folder }: PlacedSkill): string {
  return at !== folder && at.endsWith(`/${name}`) ? parentOf(at) : at;
}

/** A read-only backend with a skill's folder as its root. */
function readOnly({ files, base }: Skill): FileBackend {
  const inner = (path: string): string => (path === "/" ? base : pathIn(base, path.slice(1)));
  const outer = (path: string): string => (base === "/" ? path : path.slice(base.length) || "/");
  const refused = async (): Promise<FileResult<never>> => fail("Skills are read-only.", "denied");
  return createBackend({
    async list(path, options) {
      const list = await files.list(inner(path), options);
      if (!list.ok) return list;
      return { ok: true, entries: list.entries.map((entry) => ({ ...entry, path: outer(entry.path) })) };
    },
    read: (path) => files.read(inner(path)),
    readBytes: (path) => files.readBytes(inner(path)),
    write: refused,
    writeBytes: refused,
    swap: refused,
    delete: refused,
    deleteFolder: refused,
  });
}

/** Copies the skills whose folders a command names into the sandbox. */
async function copyNamed(main: FileBackend, command: string, placed: readonly PlacedSkill[]): Promise<void> {
  for (const skill of placed.filter(({ at }) => command.includes(at))) {
    const files = readOnly(skill);
    const matches = await files.glob("**", { ignored: true });
    for (const path of matches.ok ? matches.paths : []) {
      const file = await files.readBytes(path);
      // A file that cannot be read is skipped; the command will report what it misses.
      if (file.ok) await main.writeBytes(`${skill.at}${path}`, file.bytes);
    }
  }
}
