import { inSight } from "../../../../src/threads/log/words.ts";
import type { Thread, ThreadStatus } from "../../client/contract.ts";
import { goTo } from "../../store/actions.ts";
import type { PageStore } from "../../store/page-store.ts";
import { STATUS_LABELS, titleOf } from "../../store/state.ts";

const NOTIFICATIONS: Partial<Record<ThreadStatus, string>> = {
  waiting: "waits for you",
  failed: "failed",
  done: "is done",
  stopped: "stopped",
};

/** Shows in the title, and by notifications if allowed, which threads changed their status while the tab is hidden. */
export function watchAttention(store: PageStore): void {
  const statuses = new Map<string, ThreadStatus>();
  const unseen = new Set<string>();
  let lastThreads = store.state.threads;

  const update = (): void => {
    const { threads = [], listed } = store.state;
    if (!document.hidden) unseen.clear();
    if (threads !== lastThreads) {
      for (const thread of threads) {
        const before = statuses.get(thread.id);
        statuses.set(thread.id, thread.status);
        const word = NOTIFICATIONS[thread.status];
        if (!document.hidden || before === undefined || before === thread.status || !word) continue;
        unseen.add(thread.id);
        notify(thread, word);
      }
      lastThreads = threads;
    }
    const name = listed ? `${inSight(titleOf(store.state))} · ${STATUS_LABELS[listed.status]}` : "";
    const title = [unseen.size > 0 ? `(${unseen.size})` : "", name, name ? "· Holdfast" : "Holdfast"];
    document.title = title.filter(Boolean).join(" ");
  };
  store.subscribe(update);
  document.addEventListener("visibilitychange", update);
  update();
}

function notify({ id, title }: Thread, word: string): void {
  if (!("Notification" in window) || Notification.permission !== "granted") return;
  try {
    // Notifications of several tabs with the same tag appear once.
    const notification = new Notification(`Holdfast ${word}`, { body: inSight(title || id), tag: id });
    notification.addEventListener("click", () => {
      window.focus();
      goTo(id);
      notification.close();
    });
  } catch {
    // Some phones have the permission but not the constructor.
  }
}
