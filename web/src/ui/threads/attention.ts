import { inSight } from "../../../../src/threads/story/words.ts";
import type { Thread, ThreadStatus } from "../../client/contract.ts";
import type { PageStore } from "../../store/page-store.ts";
import { STATUS_LABELS, titleOf } from "../../store/state.ts";

/** Titles of the tab for a person who looks elsewhere. */
const CALLS: Partial<Record<ThreadStatus, string>> = {
  waiting: "waits for you",
  failed: "failed",
  done: "is done",
  stopped: "stopped",
};

/** Says in the title, and where that is allowed in a notification, that a thread of a hidden tab needs somebody. */
export function watchAttention(store: PageStore): void {
  const seen = new Map<string, ThreadStatus>();
  const missed = new Set<string>();
  let known = store.state.threads;

  const update = (): void => {
    const { threads = [], listed } = store.state;
    if (!document.hidden) missed.clear();
    if (threads !== known) {
      for (const thread of threads) {
        const was = seen.get(thread.id);
        seen.set(thread.id, thread.status);
        const word = CALLS[thread.status];
        if (!document.hidden || was === undefined || was === thread.status || !word) continue;
        missed.add(thread.id);
        notify(thread, word);
      }
      known = threads;
    }
    const name = listed ? `${inSight(titleOf(store.state))} · ${STATUS_LABELS[listed.status]}` : "";
    const title = [missed.size > 0 ? `(${missed.size})` : "", name, name ? "· Holdfast" : "Holdfast"];
    document.title = title.filter(Boolean).join(" ");
  };
  store.subscribe(update);
  document.addEventListener("visibilitychange", update);
  update();
}

function notify({ id, title }: Thread, word: string): void {
  if (!("Notification" in window) || Notification.permission !== "granted") return;
  try {
    // With the same tag, eight tabs make one notification.
    const notification = new Notification(`Holdfast ${word}`, { body: inSight(title || id), tag: id });
    notification.addEventListener("click", () => {
      window.focus();
      location.hash = `#/t/${encodeURIComponent(id)}`;
      notification.close();
    });
  } catch {
    // Some phones have the permission and not the constructor: the title has to do.
  }
}
