import { ToolMessage } from "@langchain/core/messages";
import { isCommand, type Command } from "@langchain/langgraph";
import { mark, markOf } from "../../marks.ts";

/** The result of a tool call: a message, or a command that writes one. */
export type CallResult = ToolMessage | Command;

/** An error result with a content for the model. */
export function errorResult({ name, id = "" }: { name: string; id?: string }, content: string): ToolMessage {
  return new ToolMessage({ content, status: "error", name, tool_call_id: id });
}

/** The tool messages of a result. */
export function messagesOf(result: CallResult): ToolMessage[] {
  if (!isCommand(result)) return [result];
  return updatesOf(result, "messages")
    .flat()
    .filter((message) => ToolMessage.isInstance(message));
}

/** The writes of a result to a channel. */
export function updatesOf(result: CallResult, channel: string): unknown[] {
  if (!isCommand(result)) return [];
  return writesOf(result).flatMap(([key, value]) => (key === channel && value !== undefined ? [value] : []));
}

/** All writes of a command, by channel. */
export function writesOf({ update = {} }: Command): [string, unknown][] {
  return Array.isArray(update) ? update : Object.entries(update);
}

/** The first tool message in a tool's output. */
export function resultIn(output: unknown): ToolMessage | undefined {
  return ToolMessage.isInstance(output) || isCommand(output) ? messagesOf(output)[0] : undefined;
}

/** A failed shell command, kept as the result's artifact; the model reads the output. */
export interface FailedCommand {
  /** Null if the command was stopped. */
  exitCode: number | null;
}

/** The failure of an execution; undefined if it succeeded. */
export function failureOf(execution: {
  exitCode: number | null;
  timedOut: boolean;
}): FailedCommand | undefined {
  const { exitCode, timedOut } = execution;
  return exitCode === 0 && !timedOut ? undefined : { exitCode: timedOut ? null : exitCode };
}

/** The failure in the result of an `execute` call; undefined if it succeeded, or for another tool. */
export function failedCommand({ name, artifact }: ToolMessage): FailedCommand | undefined {
  const { exitCode } = (artifact ?? {}) as Partial<FailedCommand>;
  return name === "execute" && exitCode !== undefined ? { exitCode } : undefined;
}

/** The artifact of the result of a stopped call, which may have had its effect. */
export const UNFINISHED = { unfinished: true };

export function isInterrupted({ artifact }: ToolMessage): boolean {
  return (artifact as { unfinished?: unknown } | undefined)?.unfinished === true;
}

/** Whether a result says that a write was held back. */
export function isHeld({ artifact }: ToolMessage): boolean {
  return (artifact as { held?: unknown } | undefined)?.held === true;
}

/** Notes the time of a call in its result, without the time it waited for the user. */
export function markTime(message: ToolMessage, [from, to]: readonly [number, number]): void {
  mark(message, { holdfast_time: [from, to - from] });
}

export function timeOf(message: ToolMessage): readonly [from: number, to: number] | undefined {
  const time = markOf(message, "holdfast_time");
  if (!Array.isArray(time)) return undefined;
  const [from, ms] = time as [number, number];
  return [from, from + ms];
}
