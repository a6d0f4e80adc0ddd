import { HarnessError } from "../../errors.ts";
import type { Environment } from "../../models/index.ts";

export { quoted } from "../../threads/events/index.ts";

/** The command as the user typed it: `holdfast`, `npx holdfast` in a project, or `npm start --` in a clone. */
export function commandName(env: Environment): string {
  const usual = env["npm_command"] === "exec" ? "npx holdfast" : "holdfast";
  return env["HOLDFAST_COMMAND"]?.trim() || usual;
}

/** All commands, as an expression: other words may follow the product's name in a sentence. */
export const COMMANDS =
  "session|demo|login|logout|run|resume|say|undo|show|export|plan|threads|rm|serve|worker|migrate|status|" +
  "schedule|acp|mcp|backup|check|repair|doctor|trust|completion";

const COMMAND = new RegExp(`\\bholdfast (?=(?:${COMMANDS}|--help)\\b)`, "g");

/** Replaces `holdfast` in the commands of a text by the name that the user can type. */
export function asTyped(text: string, env: Environment): string {
  return text.replaceAll(COMMAND, () => `${commandName(env)} `);
}

/** Patterns of the parser's messages, with clearer texts. The first match is used. */
const COMPLAINTS: readonly [RegExp, string][] = [
  [/^Not enough non-option arguments.*/, "Name a thread; holdfast threads lists them."],
  [/^Not enough arguments following: (\S+)/, "--$1 needs a value."],
  [/^Arguments (\S+) and (\S+) are mutually exclusive/, "--$1 and --$2 do not go together."],
  [/^Invalid values: Argument: (\S+), Given: (.*), Choices: (.*)/s, "--$1 is $2; use one of $3."],
];

/** A message of the parser in clearer words. */
export function complaint(message: string): string {
  const match = COMPLAINTS.find(([pattern]) => pattern.test(message));
  return match ? message.replace(match[0], match[1]) : message;
}

/** Throws `invalid-options`. */
export function refuse(message: string, cause?: unknown): never {
  throw new HarnessError("invalid-options", message, cause === undefined ? {} : { cause });
}
