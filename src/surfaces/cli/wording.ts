import { HarnessError } from "../../errors.ts";
import type { Environment } from "../../models/index.ts";

export { quoted } from "../../threads/events/index.ts";

/** The command as the user typed it: `holdfast`, or `npm start --` in a clone. */
export function commandName(env: Environment): string {
  return env["HOLDFAST_COMMAND"]?.trim() || "holdfast";
}

const COMMAND =
  /\bholdfast (?=run|resume|serve|acp|mcp|threads|show|plan|rm|doctor|completion|backup|check|repair|trust|--help)/g;

/** A text in which every command can be typed as it stands. */
export function asTyped(text: string, env: Environment): string {
  return text.replaceAll(COMMAND, () => `${commandName(env)} `);
}

/** The parser's complaints in words that say what to do. The first one that fits is used. */
const COMPLAINTS: readonly [RegExp, string][] = [
  [/^Not enough non-option arguments.*/, "Name a thread; holdfast threads lists them."],
  [/^Not enough arguments following: (\S+)/, "--$1 needs a value."],
  [/^Arguments (\S+) and (\S+) are mutually exclusive/, "--$1 and --$2 do not go together."],
  [/^Invalid values: Argument: (\S+), Given: (.*), Choices: (.*)/s, "--$1 is $2; use one of $3."],
];

/** A complaint of the parser, in one line, as we would put it. */
export function complaint(message: string): string {
  const known = COMPLAINTS.find(([pattern]) => pattern.test(message));
  return known ? message.replace(known[0], known[1]) : message;
}

/** Throws `invalid-options`: what was asked for cannot be done. */
export function refuse(message: string, cause?: unknown): never {
  throw new HarnessError("invalid-options", message, cause === undefined ? {} : { cause });
}
