import { pathIn } from "../../files/paths/index.ts";
import { readSkills } from "./read-skills.ts";
import type { PlacedSkill, Skill, SkillSource } from "./skill.ts";

/** The folder of skills that are not on disk. */
const FOLDER = "/.skills";

/** Matches a path that can stand in the prompt, without characters that could carry instructions. */
const PLAIN = /^\/[\p{L}\p{N}_/.,:@%+ -]+$/u;

interface LibraryOptions {
  /** The folder of all skills. Default: their own folders on this machine, or `/.skills`. */
  folder?: string;
  /** Whether commands run on this machine, so that they can use a skill's own folder. */
  onHost: boolean;
  onNote: (note: string) => void;
}

/** The skills of an agent, read on first use, with the folders in which it finds them. */
export class SkillLibrary {
  readonly #sources: readonly SkillSource[];
  readonly #options: LibraryOptions;
  #placed: Promise<readonly PlacedSkill[]> | undefined;

  constructor(sources: readonly SkillSource[], options: LibraryOptions) {
    this.#sources = sources;
    this.#options = options;
  }

  readonly placed = (): Promise<readonly PlacedSkill[]> => {
    this.#placed ??= this.#read();
    return this.#placed;
  };

  async #read(): Promise<PlacedSkill[]> {
    const { skills, notes } = await readSkills(this.#sources);
    for (const note of notes) this.#options.onNote(note);
    return skills.map((skill) => ({ ...skill, at: this.#placeOf(skill) }));
  }

  #placeOf({ name, folder }: Skill): string {
    const { folder: common, onHost } = this.#options;
    if (common !== undefined) return pathIn(common, name);
    return onHost && folder !== undefined && PLAIN.test(folder) ? folder : pathIn(FOLDER, name);
  }
}
