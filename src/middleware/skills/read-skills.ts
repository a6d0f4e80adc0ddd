import { readdir, realpath, stat } from "node:fs/promises";
import { join, resolve, sep } from "node:path";
import { diskBackend } from "../../files/disk/index.ts";
import { isInside, inOrder, nameOf, pathIn } from "../../files/paths/index.ts";
import { NAMED, readFrontmatter } from "./frontmatter.ts";
import type { Skill, SkillSource } from "./skill.ts";

/** The most skills of an agent, as each is listed in the prompt. */
const MAX_SKILLS = 200;

/** The result of `readSkills`. */
export interface SkillsRead {
  /** Skills sorted by name. Of two with one name, the later source wins. */
  skills: Skill[];
  /** A sentence for each skill that was left out. */
  notes: string[];
}

/**
 * Reads skills. A skill that cannot be used is a note and never an exception. `within`: the folder that links must not
 * leave. Default: the source itself.
 *
 * @example
 * ```ts
 * import { createDeepAgent, readSkills } from "holdfast";
 *
 * const { skills, notes } = await readSkills(["./skills"]);
 * for (const note of notes) console.warn(note);
 * const agent = createDeepAgent({ model: "openai:gpt-5.1", skills });
 * ```
 */
export async function readSkills(
  sources: readonly SkillSource[],
  { within }: { within?: string } = {},
): Promise<SkillsRead> {
  const byName = new Map<string, Skill>();
  const notes: string[] = [];
  for (const source of sources) {
    const places = await placesIn(source, { within, notes });
    for (const place of places) {
      const skill = "name" in place ? place : await readSkill(place, notes);
      if (!skill) continue;
      if (byName.has(skill.name) || byName.size < MAX_SKILLS) byName.set(skill.name, skill);
      else notes.push(`The skill ${skill.name} was left out: there are ${MAX_SKILLS} already.`);
    }
  }
  return { skills: [...byName.values()].toSorted((a, b) => inOrder(a.name, b.name)), notes };
}

type SkillPlace = Pick<Skill, "files" | "base" | "folder">;

async function placesIn(
  source: SkillSource,
  options: { within: string | undefined; notes: string[] },
): Promise<(Skill | SkillPlace)[]> {
  if (typeof source === "string") return placesOnDisk(resolve(source), options);
  if (typeof source === "function") return [...(await source())];
  if ("description" in source) return [source];
  const list = await source.list("/");
  if (!list.ok) options.notes.push(`Skills cannot be listed: ${list.error}`);
  const folders = list.ok ? list.entries.filter(({ isDirectory }) => isDirectory) : [];
  return folders.map(({ path }) => ({ files: source, base: path }));
}

/** Finds skills on disk. Each gets a backend of its real path: a link to its folder is resolved here, once. */
async function placesOnDisk(
  root: string,
  { within, notes }: { within: string | undefined; notes: string[] },
): Promise<SkillPlace[]> {
  const places: SkillPlace[] = [];
  let names: string[];
  let inside: string;
  try {
    inside = await realpath(within ?? root);
    names = (await readdir(root)).toSorted(inOrder);
  } catch (error) {
    notes.push(`${root} cannot be read: ${(error as Error).message}.`);
    return [];
  }
  for (const name of names) {
    const folder = join(root, name);
    const real = await realpath(folder).catch(() => undefined);
    if (real === undefined) notes.push(`${folder} cannot be read.`);
    else if (!isInside(real, inside)) notes.push(`${folder} leads out of ${inside}, and was left out.`);
    else if ((await stat(real)).isDirectory())
      places.push({ files: diskBackend(real), base: "/", folder: real });
  }
  return places;
}

/** Reads one skill. Returns undefined and adds a note if it cannot be used. */
export async function readSkill(place: SkillPlace, notes: string[]): Promise<Skill | undefined> {
  const where = place.folder ?? place.base;
  const file = await place.files.read(pathIn(place.base, "SKILL.md"));
  // A folder without `SKILL.md` is not a skill.
  if (!file.ok && file.reason === "missing") return undefined;
  const parsed = file.ok ? await readFrontmatter(file.content, NAMED) : file.error;
  if (typeof parsed === "string") {
    notes.push(file.ok ? `${where}/SKILL.md ${parsed}.` : `${where}: ${parsed}`);
    return undefined;
  }
  const folder = nameOf(where.replaceAll(sep, "/"));
  if (parsed.name !== folder)
    notes.push(`${where}: the skill is called ${parsed.name}, and its folder is not.`);
  return { ...parsed, ...place };
}
