import type { BaseMessage } from "@langchain/core/messages";
import { createMiddleware } from "langchain";
import { isFromUser, quotedText, withSection } from "../text/index.ts";
import { withText } from "../tools/index.ts";
import type { SkillLibrary } from "./library.ts";
import type { PlacedSkill } from "./skill.ts";
import { skillsPrompt } from "./skills.prompt.ts";

/**
 * Lists the skills in the system prompt, and adds the text of a skill that the user calls by `/name`. File tools with the
 * same library can read the skills' files. Adds no tool, graph step or state.
 */
export function skillsMiddleware(
  library: Pick<SkillLibrary, "placed">,
  reader?: Parameters<typeof skillsPrompt>[1],
) {
  return createMiddleware({
    name: "SkillsMiddleware",
    wrapModelCall: async (request, handler) => {
      const skills = await library.placed();
      if (skills.length === 0) return handler(request);
      return handler({
        ...request,
        systemMessage: withSection(request.systemMessage, skillsPrompt(skills, reader)),
        messages: request.messages.map((message) => withCalled(message, skills)),
      });
    },
  });
}

/**
 * Appends the skill to a user's message that calls one. In the request only: the text is the same each time, so the
 * provider's cache stays valid.
 */
function withCalled(message: BaseMessage, skills: readonly PlacedSkill[]): BaseMessage {
  if (!isFromUser(message)) return message;
  const [, name, args = ""] = /^\s*\/([a-z0-9-]{1,64})(?:\s+(.*))?$/s.exec(message.text) ?? [];
  const skill = name === undefined ? undefined : skills.find((one) => one.name === name);
  if (!skill) return message;
  const text = quotedText(
    "skill",
    `${skill.at}/SKILL.md`,
    skill.body.replaceAll("$ARGUMENTS", () => args.trim()),
  );
  return withText(message, text);
}

export { SkillLibrary } from "./library.ts";
export { frontmatterIn, NAMED, readFrontmatter } from "./frontmatter.ts";
export { withSkills } from "./mount.ts";
export { readSkill, readSkills, type SkillsRead } from "./read-skills.ts";
export { skillsPrompt } from "./skills.prompt.ts";
export type { PlacedSkill, Skill, SkillSource } from "./skill.ts";
