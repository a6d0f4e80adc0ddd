import { parentOf } from "../../files/paths/paths.ts";
import { shareOut } from "./share-out.ts";
import type { PlacedSkill } from "./skill.ts";

/** Appended to the system prompt: what each skill is for, and where it is. The rest is read when it is needed. */
export function skillsPrompt(skills: readonly PlacedSkill[]): string {
  if (skills.length === 0) return "";
  const descriptions = shareOut(skills.map(({ description }) => description));
  const groups = new Map<string, string[]>();
  for (const [index, { name, at }] of skills.entries()) {
    const isUsual = at.endsWith(`/${name}`);
    const place = isUsual ? `${parentOf(at)}/<name>/SKILL.md` : `${at}/SKILL.md`;
    const lines = groups.get(place) ?? [];
    groups.set(place, [...lines, `- ${name}: ${descriptions[index]}`]);
  }
  const sections = [...groups].map(
    ([place, lines], index) =>
      `${index === 0 ? `Before work that one of these is for, read ${place} and follow it; its files are beside it.` : `In ${place}:`}\n${lines.join("\n")}`,
  );
  return `## Skills\n${sections.join("\n")}`;
}
