import { useSyncExternalStore } from "react";
import { usePage, useStore } from "../use-store.ts";

/** A value, or what makes one of the value that is there. */
export type Change<Value> = Value | ((value: Value) => Value);

/**
 * Like `useState`, for what somebody has begun in the thread that is open: it is there again when they come back to it.
 * Until it is changed, and once it is forgotten, it is `start`.
 */
export function useDraft<Value>(name: string, start: Value): [Value, (change: Change<Value>) => void] {
  const { drafts } = useStore();
  const { open } = usePage();
  const read = (): Value => (drafts.get(open, name) as Value | undefined) ?? start;
  const change = (next: Change<Value>): void =>
    drafts.keep(open, name, typeof next === "function" ? (next as (value: Value) => Value)(read()) : next);
  useSyncExternalStore(drafts.subscribe, () => drafts.get(open, name));
  return [read(), change];
}
