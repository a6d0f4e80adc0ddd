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

/** The error of a part of the page that could not be loaded, with a button to try again. */
export function Failed({ part }: { part: Part }) {
  const store = useStore();
  const { failed } = usePage();
  const failure = failed[part];
  if (failure === undefined) return null;
  return (
    <p className="problem" role="alert">
      {SENTENCES[part]} {failure}{" "}
      <button type="button" className="quiet small" onClick={() => void store.loadPart(part)}>
        Try again
      </button>
    </p>
  );
}

/** An error message; nothing without a text. */
export function Problem({ text }: { text: string | undefined }) {
  return text ? (
    <p className="problem" role="alert">
      {text}
    </p>
  ) : null;
}
