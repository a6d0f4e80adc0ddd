import { readdir, realpath, stat } from "node:fs/promises";
import { join, resolve, sep } from "node:path";
import { diskBackend } from "../../files/disk/index.ts";
import { isInside, inOrder, nameOf } from "../../files/paths/index.ts";
import { NAMED, readFrontmatter } from "./frontmatter.ts";
import type { Skill, SkillSource } from "./skill.ts";

/** More than anybody has: each stands in the prompt. */
const MAX_SKILLS = 200;

/** The result of `readSkills`. */
export interface SkillsRead {
  /** Skills by name. The later source wins. */
  skills: Skill[];
  /** Skills that were left out, a sentence each. */
  notes: string[];
}

/**
 * Reads skills. One that cannot be used is a note and never a failure. `within`: links may lead to other places in this
 * folder; without it, only in the source itself.
 */
export async function readSkills(
  sources: readonly SkillSource[],
  { within }: { within?: string } = {},
): Promise<SkillsRead> {
  const found = new Map<string, Skill>();
  const notes: string[] = [];
  for (const source of sources) {
    const places = await placesIn(source, { within, notes });
    for (const place of places) {
      const skill = "name" in place ? place : await readSkill(place, notes);
      if (!skill) continue;
      if (found.has(skill.name) || found.size < MAX_SKILLS) found.set(skill.name, skill);
      else notes.push(`The skill ${skill.name} was left out: there are ${MAX_SKILLS} already.`);
    }
  }
  return { skills: [...found.values()].toSorted((a, b) => inOrder(a.name, b.name)), notes };
}

type Place = Pick<Skill, "files" | "base" | "folder">;

async function placesIn(
  source: SkillSource,
  options: { within: string | undefined; notes: string[] },
): Promise<(Skill | Place)[]> {
  if (typeof source === "string") return placesOnDisk(resolve(source), options);
  if (typeof source === "function") return [...(await source())];
  if ("description" in source) return [source];
  const listed = await source.list("/");
  if (!listed.ok) options.notes.push(`Skills cannot be listed: ${listed.error}`);
  const folders = listed.ok ? listed.entries.filter(({ isDirectory }) => isDirectory) : [];
  return folders.map(({ path }) => ({ files: source, base: path }));
}

/** Each skill gets a backend of its own folder, by its real name: a link is followed once, here, and no further. */
async function placesOnDisk(
  root: string,
  { within, notes }: { within: string | undefined; notes: string[] },
): Promise<Place[]> {
  const places: Place[] = [];
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

/** Reads one skill. One that cannot be used is a note. */
export async function readSkill(place: Place, notes: string[]): Promise<Skill | undefined> {
  const where = place.folder ?? place.base;
  const file = await place.files.read(place.base === "/" ? "/SKILL.md" : `${place.base}/SKILL.md`);
  // A folder without one is none.
  if (!file.ok && file.reason === "missing") return undefined;
  const read = file.ok ? await readFrontmatter(file.content, NAMED) : file.error;
  if (typeof read === "string") {
    notes.push(file.ok ? `${where}/SKILL.md ${read}.` : `${where}: ${read}`);
    return undefined;
  }
  const folder = nameOf(where.replaceAll(sep, "/"));
  if (read.name !== folder) notes.push(`${where}: the skill is called ${read.name}, and its folder is not.`);
  return { ...read, ...place };
}
