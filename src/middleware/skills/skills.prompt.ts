import { parentOf } from "../../files/paths/index.ts";
import { foreign } from "../../plan/render/index.ts";
import { filled } from "../text/index.ts";
import { shareOut } from "./share-out.ts";
import type { PlacedSkill } from "./skill.ts";

/** The readers of a skill: the agent that answers the user, or a sub-agent, whose report another agent puts into form. */
export const READERS = {
  agent:
    "Before work that one of these is for, read {place} and follow it; its files are in the same folder.",
  helper:
    "If your task itself is what one of these is for, read {place} and follow it; its files are in the same folder. None is for the form of your report: another agent reads that.",
};

/** Appended to the system prompt: what each skill is for, and where it is. The rest is read when it is needed. */
export function skillsPrompt(
  skills: readonly Pick<PlacedSkill, "name" | "description" | "at">[],
  reader: keyof typeof READERS = "agent",
): string {
  if (skills.length === 0) return "";
  const descriptions = shareOut(skills.map(({ description }) => description));
  const groups = new Map<string, string[]>();
  for (const [index, { name, at }] of skills.entries()) {
    const isUsual = at.endsWith(`/${name}`);
    const place = isUsual ? `${foreign(parentOf(at))}/<name>/SKILL.md` : `${foreign(at)}/SKILL.md`;
    const lines = groups.get(place) ?? [];
    groups.set(place, [...lines, `- ${name}: ${foreign(descriptions[index]!)}`]);
  }
  const sections = [...groups].map(
    ([place, lines], index) =>
      `${index === 0 ? filled(READERS[reader], { place }) : `In ${place}:`}\n${lines.join("\n")}`,
  );
  return `## Skills\n${sections.join("\n")}`;
}
