import type { AvailableCommand } from "@agentclientprotocol/sdk";
import type { Project } from "../../../project/index.ts";
import { PLAN_COMMAND } from "../../../threads/edit/index.ts";

export const UNDO_COMMAND: AvailableCommand = {
  name: "undo",
  description: "take back the last message: what was said, and the files that the agent wrote",
};

export const COMPACT_COMMAND: AvailableCommand = {
  name: "compact",
  description: "have the conversation summarized with the next message",
};

export const FORK_COMMAND: AvailableCommand = {
  name: "fork",
  description: "copy this session to a new one that continues separately",
};

const BUILT_IN: readonly AvailableCommand[] = [
  { name: PLAN_COMMAND.name, description: PLAN_COMMAND.about, input: { hint: PLAN_COMMAND.usage } },
  UNDO_COMMAND,
  COMPACT_COMMAND,
  FORK_COMMAND,
];

/** The commands of a session: the built-in ones, and its project's skills by name. */
export function commandsFor({ skills }: Project): AvailableCommand[] {
  const others = skills.filter(({ name }) => !BUILT_IN.some((command) => command.name === name));
  return [
    ...BUILT_IN,
    ...others.map(({ name, description }) => ({ name, description, input: { hint: "what to do" } })),
  ];
}
