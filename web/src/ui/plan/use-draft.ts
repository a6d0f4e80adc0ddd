import { useSyncExternalStore } from "react";
import { usePage, useStore } from "../use-store.ts";

/** A new value, or a function that makes it of the current one. */
export type Change<Value> = Value | ((value: Value) => Value);

/**
 * Like `useState`, for unsent input in the open thread, which is kept while other threads are open. The value is `start`
 * until it is changed and after it is removed.
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
