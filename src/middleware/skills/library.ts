import { pathIn } from "../../files/paths/index.ts";
import { readSkills } from "./read-skills.ts";
import type { PlacedSkill, Skill, SkillSource } from "./skill.ts";

/** Where skills are found that have no folder of their own. */
const FOLDER = "/.skills";

/** A path that says nothing but where something is: it stands in the prompt. */
const PLAIN = /^\/[\p{L}\p{N}_/.,:@%+ -]+$/u;

export interface LibraryOptions {
  /** Where all of them are found. */
  folder?: string | undefined;
  /** Whether commands run on this machine: a skill's folder is named as they know it. */
  onHost: boolean;
  onNote: (note: string) => void;
}

/** The skills of an agent, read when they are first needed, and where it finds them. */
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
    const { folder: given, onHost } = this.#options;
    if (given !== undefined) return pathIn(given, name);
    return onHost && folder !== undefined && PLAIN.test(folder) ? folder : pathIn(FOLDER, name);
  }
}
