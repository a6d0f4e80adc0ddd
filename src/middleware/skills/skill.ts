import type { FileBackend } from "../../files/index.ts";

/** A folder with a `SKILL.md` that an agent reads when it needs it, as agentskills.io describes it. */
export interface Skill {
  name: string;
  /** What it is for and when to use it, in one line: only this is in the prompt. */
  description: string;
  /** The text of `SKILL.md` below its frontmatter. */
  body: string;
  files: FileBackend;
  /** Its folder in `files`. */
  base: string;
  /** Its folder on this machine, if any. */
  folder?: string;
}

/** A source of skills: a folder on disk or a backend, with a folder for each skill, or skills that were read before. */
export type SkillSource = string | FileBackend | Skill | (() => Promise<readonly Skill[]>);

/** A skill with the folder that an agent finds it in. */
export interface PlacedSkill extends Skill {
  at: string;
}
