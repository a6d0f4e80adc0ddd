import type { Part } from "../store/state.ts";
import { usePage, useStore } from "./use-store.ts";

const SENTENCES: Readonly<Record<Part, string>> = {
  info: "What the server offers could not be loaded.",
  threads: "The threads could not be loaded.",
  older: "Older threads could not be loaded.",
  thread: "The thread could not be loaded.",
  calls: "What the question is about could not be loaded.",
  files: "The files could not be loaded.",
  history: "The steps of the run could not be loaded.",
  earlier: "Earlier steps could not be loaded.",
};

/** Says why a part of the page could not be loaded, where that is so, and tries again. */
export function Failed({ part }: { part: Part }) {
  const store = useStore();
  const { failed } = usePage();
  const why = failed[part];
  if (why === undefined) return null;
  return (
    <p className="problem" role="alert">
      {SENTENCES[part]} {why}{" "}
      <button type="button" className="quiet small" onClick={() => void store.loadPart(part)}>
        Try again
      </button>
    </p>
  );
}
