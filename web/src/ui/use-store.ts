import { createContext, useContext, useEffect, useState, useSyncExternalStore } from "react";
import type { PageStore } from "../store/page-store.ts";
import type { PageState } from "../store/state.ts";

export const StoreContext = createContext<PageStore | undefined>(undefined);

export function useStore(): PageStore {
  const store = useContext(StoreContext);
  if (!store) throw new Error("useStore needs a StoreContext around it.");
  return store;
}

/** The state of the page; rerenders when it changes. */
export function usePage(): PageState {
  const store = useStore();
  return useSyncExternalStore(store.subscribe, () => store.state);
}

/** The current time, updated each second while `isTicking`. */
export function useNow(isTicking: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    setNow(Date.now());
    if (!isTicking) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [isTicking]);
  return now;
}

/** Whether the page is as narrow as a phone, and shows one region at a time. */
export function useNarrow(): boolean {
  const [query] = useState(() => matchMedia("(width <= 61rem)"));
  const subscribe = (listener: () => void): (() => void) => {
    query.addEventListener("change", listener);
    return () => query.removeEventListener("change", listener);
  };
  return useSyncExternalStore(subscribe, () => query.matches);
}
