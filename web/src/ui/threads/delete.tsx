import { useEffect, useState } from "react";
import { remove } from "../../store/actions.ts";
import { pressed } from "../pressed.ts";
import { useStore } from "../use-store.ts";

/** Deletes a thread when it was meant: the second press counts, and not for long. */
export function Delete({ id }: { id: string }) {
  const store = useStore();
  const [isSure, setSure] = useState(false);
  useEffect(() => {
    if (!isSure) return undefined;
    const timer = setTimeout(() => setSure(false), 5000);
    return () => clearTimeout(timer);
  }, [isSure]);
  return (
    <button
      type="button"
      className={isSure ? "danger small" : "quiet small"}
      onClick={pressed(() => (isSure ? remove(store, id) : setSure(true)))}
    >
      {isSure ? "Delete for good" : "Delete"}
      <span className="hidden"> this thread</span>
    </button>
  );
}
