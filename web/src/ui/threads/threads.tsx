import { ago, inSight } from "../../../../src/threads/log/words.ts";
import type { Thread } from "../../client/contract.ts";
import { goTo } from "../../store/actions.ts";
import { STATUS_LABELS } from "../../store/state.ts";
import { Failed } from "../failed.tsx";
import { useNow, usePage, useStore } from "../use-store.ts";

/** The threads, the newest first. */
export function Threads() {
  const store = useStore();
  const { threads, hasMoreThreads, query, open, failed } = usePage();
  const now = useNow(true);

  return (
    <nav className="threads" aria-label="Threads">
      <header className="threads-head">
        <span className="brand">Holdfast</span>
        <button type="button" className="primary" onClick={() => goTo(undefined)}>
          New task
        </button>
        <label className="search">
          <span className="hidden">Search threads</span>
          <input
            type="search"
            placeholder="Search threads"
            value={query}
            onInput={(event) => void store.search(event.currentTarget.value)}
          />
        </label>
      </header>
      <Failed part="threads" />
      {threads === undefined && !failed.threads && <p className="empty">Loading the threads…</p>}
      {threads?.length === 0 && (
        <p className="empty">
          {query ? "No thread has these words." : "No threads yet. Give a task, and it appears here."}
        </p>
      )}
      <ul className="thread-list">
        {threads?.map((thread) => (
          <ThreadRow key={thread.id} thread={thread} isOpen={thread.id === open} now={now} />
        ))}
      </ul>
      <Failed part="older" />
      {hasMoreThreads && (
        <button type="button" className="quiet" onClick={() => void store.loadMoreThreads()}>
          Show older threads
        </button>
      )}
    </nav>
  );
}

function ThreadRow({ thread, isOpen, now }: { thread: Thread; isOpen: boolean; now: number }) {
  const { id, title, status, todos, updatedAt } = thread;
  return (
    <li className="thread">
      <a href={`#/t/${encodeURIComponent(id)}`} aria-current={isOpen ? "page" : undefined}>
        <span className="thread-title">{inSight(title || id)}</span>
        <span className="thread-about">
          <span className={`word word-${status}`}>{STATUS_LABELS[status]}</span>
          {todos.total > 0 && (
            <span>
              {todos.done}/{todos.total} done
            </span>
          )}
          <time dateTime={new Date(updatedAt).toISOString()}>{ago(updatedAt, now)}</time>
        </span>
      </a>
    </li>
  );
}
