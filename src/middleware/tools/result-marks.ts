import { ToolMessage } from "@langchain/core/messages";
import { isCommand } from "@langchain/langgraph";

/** The result in what a tool returned. */
export function resultIn(output: unknown): ToolMessage | undefined {
  if (ToolMessage.isInstance(output)) return output;
  if (!isCommand(output)) return undefined;
  const { update = {} } = output;
  const writes = Array.isArray(update) ? update : Object.entries(update as object);
  const messages: unknown[] = writes.flatMap(([channel, value]) => (channel === "messages" ? value : []));
  return messages.find((message) => ToolMessage.isInstance(message));
}

/** The artifact of the result of a call that was stopped: it may have had its effect. */
export const UNFINISHED = { unfinished: true };

export function isUnfinished({ artifact }: ToolMessage): boolean {
  return (artifact as { unfinished?: unknown } | undefined)?.unfinished === true;
}

/** The artifact says that a write was held back. */
export function isHeld({ artifact }: ToolMessage): boolean {
  return (artifact as { held?: unknown } | undefined)?.held === true;
}

/** In a result: when the call began, and for how many milliseconds it was run. Waiting for a person is before it. */
const TIME = "holdfast_time";

export function markTime(message: ToolMessage, [from, to]: readonly [number, number]): void {
  message.additional_kwargs = { ...message.additional_kwargs, [TIME]: [from, to - from] };
}

export function timeOf({ additional_kwargs }: ToolMessage): readonly [from: number, to: number] | undefined {
  const time = additional_kwargs[TIME];
  if (!Array.isArray(time)) return undefined;
  const [from, ms] = time as [number, number];
  return [from, from + ms];
}
