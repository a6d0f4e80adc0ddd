import type { ToolMessage } from "@langchain/core/messages";
import type { Execution } from "../../files/index.ts";

/** How a command failed. Kept beside the result, as its artifact: to the model the output is what counts. */
export interface FailedCommand {
  /** Null when it was stopped. */
  exitCode: number | null;
}

/** What a tool's message keeps of a command; nothing of one that went well. */
export function failureOf({ exitCode, timedOut }: Execution): FailedCommand | undefined {
  return exitCode === 0 && !timedOut ? undefined : { exitCode: timedOut ? null : exitCode };
}

/** How the command failed whose result this is; undefined when it went well, or is none. */
export function failedCommand({ name, artifact }: ToolMessage): FailedCommand | undefined {
  const { exitCode } = (artifact ?? {}) as Partial<FailedCommand>;
  return name === "execute" && exitCode !== undefined ? { exitCode } : undefined;
}
