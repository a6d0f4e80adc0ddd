import type { AIMessage } from "@langchain/core/messages";

const withheld = new WeakMap<AIMessage, ReadonlySet<string | undefined>>();

/**
 * Says which calls of a turn wait for a person. Tools that work out what the calls before theirs come to have to leave
 * these out: nobody knows yet whether they will be made. To be called before a tool of the turn runs.
 */
export function withholdCalls(turn: AIMessage, calls: readonly { id?: string }[]): void {
  withheld.set(turn, new Set(calls.map(({ id }) => id)));
}

export function isWithheld(turn: AIMessage, { id }: { id?: string }): boolean {
  return withheld.get(turn)?.has(id) ?? false;
}
