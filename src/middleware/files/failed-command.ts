import type { ToolMessage } from "@langchain/core/messages";
import type { Execution } from "../../files/index.ts";

/** A command's failure, kept as the result's artifact; the model reads the output. */
export interface FailedCommand {
  /** Null when it was stopped. */
  exitCode: number | null;
}

/** The failure of a command; undefined if it succeeded. */
export function failureOf({ exitCode, timedOut }: Execution): FailedCommand | undefined {
  return exitCode === 0 && !timedOut ? undefined : { exitCode: timedOut ? null : exitCode };
}

/** The failure of the command that a message is the result of; undefined if it succeeded, or is no command. */
export function failedCommand({ name, artifact }: ToolMessage): FailedCommand | undefined {
  const { exitCode } = (artifact ?? {}) as Partial<FailedCommand>;
  return name === "execute" && exitCode !== undefined ? { exitCode } : undefined;
}
