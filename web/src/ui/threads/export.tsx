import { exportHtml } from "../../../../src/threads/story/html/index.ts";
import { costOfThread } from "../../../../src/threads/story/thread.ts";
import { titleOf, type PageState } from "../../store/state.ts";
import { useStore } from "../use-store.ts";

/** Hands the thread to the person as one file. */
export function Export() {
  const store = useStore();
  return (
    <button type="button" className="quiet small" onClick={() => save(store.state)}>
      Export
    </button>
  );
}

function save(page: PageState): void {
  const { open = "", thread, info } = page;
  const html = exportHtml(titleOf(page), thread, costOfThread(thread, info?.prices));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([html], { type: "text/html" }));
  link.download = `${open.replaceAll(/[^\w.-]+/g, "-")}.html`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
