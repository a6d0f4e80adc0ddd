import type { FileBackend } from "../../files/index.ts";

/** Knowledge that an agent reads when it needs it: a folder with a `SKILL.md`, as agentskills.io describes it. */
export interface Skill {
  name: string;
  /** Its purpose and occasion, in one line: all that stands in the prompt. */
  description: string;
  /** The text of `SKILL.md` below its frontmatter. */
  body: string;
  /** Where its files are. */
  files: FileBackend;
  /** Its folder in `files`. */
  base: string;
  /** Its folder on this machine, where it has one. */
  folder?: string;
}

/** Where skills come from: a folder on disk or a backend, with one folder for each, or what was read already. */
export type SkillSource = string | FileBackend | Skill | (() => Promise<readonly Skill[]>);

/** A skill with the folder that an agent finds it in. */
export interface PlacedSkill extends Skill {
  at: string;
}
