import { useState } from "react";
import { countTodos } from "../../../src/plan/todo/todo.ts";
import {
  agentOf,
  costOfThread,
  modeName,
  planOf,
  type ThreadState,
} from "../../../src/threads/log/thread.ts";
import { amount, dollars, duration, inSight } from "../../../src/threads/log/words.ts";
import { MAIN, tokensOf, workedMs } from "../../../src/threads/view/view.ts";
import { statusOf, STATUS_LABELS, type PageState } from "../store/state.ts";
import { modeOf } from "./composer/thread-options.tsx";
import { useNow, usePage } from "./use-store.ts";

/** A one-line status. */
export function StatusLine({ hasTimeline, onTimeline }: { hasTimeline: boolean; onTimeline: () => void }) {
  const page = usePage();
  const { thread, open, connection, loading, message } = page;
  const status = statusOf(page);
  // Users' own graphs have no mode.
  const mode = page.info?.defaults ? modeOf(page.settings) : page.settings.mode;
  const hasThread = open !== undefined && loading !== "missing";
  return (
    <footer className={connection === "lost" ? "status status-lost" : "status"}>
      <p role="status" className="status-words">
        {connection === "lost" ? (
          <strong className="word word-failed">
            Connection lost. Trying again; nothing is lost, and runs continue on the server.
          </strong>
        ) : (
          <>
            <strong className={`word word-${status ?? "done"}`}>
              {status ? STATUS_LABELS[status] : connection === "connecting" ? "Connecting…" : "Ready"}
            </strong>
            {hasThread && <span>{progressWords(page)}</span>}
            {hasThread && mode && <span>{modeName(mode, thread)}</span>}
            {message && <span className="hidden">{message}</span>}
          </>
        )}
      </p>
      {hasThread && <Doing thread={thread} isRunning={status === "running"} />}
      <span className="status-push" />
      {hasThread && <Spent page={page} />}
      <NotifyButton />
      {hasThread && (
        <button type="button" className="quiet small" aria-pressed={hasTimeline} onClick={onTimeline}>
          Timeline
        </button>
      )}
    </footer>
  );
}

function progressWords({ thread }: PageState): string {
  const { total, completed, cancelled } = countTodos(planOf(thread));
  if (total === cancelled) return "";
  const count = thread.questions.length;
  const questions = count > 0 ? ` · ${count} ${count === 1 ? "question" : "questions"}` : "";
  return `${completed} of ${total - cancelled} done${questions}`;
}

/** The current activity. It changes often, so it is not a live region. */
function Doing({ thread, isRunning }: { thread: ThreadState; isRunning: boolean }) {
  const now = useNow(isRunning);
  if (!isRunning || !thread.isRunning) return null;
  const item = planOf(thread).find(({ status }) => status === "in_progress");
  const tool = [...(agentOf(thread, MAIN)?.tools.values() ?? [])].at(-1);
  const words = item ? item.content : tool ? `${tool.name} ${tool.about}` : "";
  return (
    <p className="status-doing">
      {words && <span className="status-item">{inSight(words)}</span>}
      <span>{duration(workedMs(thread.view, now))}</span>
    </p>
  );
}

function Spent({ page: { thread, info } }: { page: PageState }) {
  const tokens = tokensOf(thread.view.usage);
  const cost = costOfThread(thread, info?.prices);
  if (tokens === 0) return null;
  return (
    <p className="status-spent">
      <span>{amount(tokens)} tokens</span>
      {cost !== undefined && <span>{dollars(cost)}</span>}
    </p>
  );
}

function NotifyButton() {
  const [permission, setPermission] = useState(() =>
    "Notification" in window ? Notification.permission : "denied",
  );
  if (permission !== "default") return null;
  return (
    <button
      type="button"
      className="quiet small notify"
      onClick={() => void Notification.requestPermission().then(setPermission)}
    >
      Notify me
    </button>
  );
}
