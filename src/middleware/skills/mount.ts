import { fail } from "../../files/backend/index.ts";
import { compositeBackend, createBackend, type FileBackend, type FileResult } from "../../files/index.ts";
import { parsePath, isWithin, parentOf, pathIn, leadingFolder } from "../../files/paths/index.ts";
import type { SkillLibrary } from "./library.ts";
import type { PlacedSkill, Skill } from "./skill.ts";

/**
 * A backend with the skills in it, read-only. They are there for whoever names their folder: listings and searches of
 * the rest do not show them.
 */
export function withSkills(main: FileBackend, library: SkillLibrary): FileBackend {
  /** The backend that has a path. */
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
    // What is written into a skill is refused, so nobody needs to know where it would have gone.
    route: (path) => ({ backend: main, path }),
    ...(main.locate && { locate: main.locate.bind(main) }),
    ...(main.execute && {
      execute: async (command, options) => {
        // Commands of a sandbox see its own files alone.
        if (!main.locate) await copyNamed(main, command, await library.placed());
        return main.execute!(command, options);
      },
    }),
  };
}

/** The folder that a skill stands in with others, where that folder is ours. */
function shelfOf({ at, name, folder }: PlacedSkill): string {
  return at !== folder && at.endsWith(`/${name}`) ? parentOf(at) : at;
}

/** The files of a skill, with its own folder as the root. */
function readOnly({ files, base }: Skill): FileBackend {
  const inner = (path: string): string => (path === "/" ? base : pathIn(base, path.slice(1)));
  const outer = (path: string): string => (base === "/" ? path : path.slice(base.length) || "/");
  const refused = async (): Promise<FileResult<never>> => fail("Skills are read-only.", "denied");
  return createBackend({
    async list(path, options) {
      const listed = await files.list(inner(path), options);
      if (!listed.ok) return listed;
      return {
        ok: true,
        entries: listed.entries.map((entry) => ({ ...entry, path: outer(entry.path) })),
      };
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

/** Puts the skills that a command names where it will find them. */
async function copyNamed(main: FileBackend, command: string, placed: readonly PlacedSkill[]): Promise<void> {
  for (const skill of placed.filter(({ at }) => command.includes(at))) {
    const files = readOnly(skill);
    const found = await files.glob("**", { ignored: true });
    for (const path of found.ok ? found.paths : []) {
      const file = await files.readBytes(path);
      // What cannot be read stays behind, and the command says what it misses.
      if (file.ok) await main.writeBytes(`${skill.at}${path}`, file.bytes);
    }
  }
}
