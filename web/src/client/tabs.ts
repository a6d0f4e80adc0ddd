import type { StreamEvent } from "./contract.ts";
import { readStream, type Connection, type StreamOptions } from "./stream.ts";

/** The prefix of the lock whose holder reads the stream for all tabs with the same key. */
export const STREAM_LOCK = "holdfast-events";

/** The time for the leading tab to answer. */
const ANSWER_MS = 2000;

/** A message between tabs; `hello` asks the leading tab for the state of the connection. */
type TabMessage =
  | { type: "event"; event: StreamEvent; n: number | undefined }
  | { type: "connection"; connection: Connection }
  | { type: "hello" };

/**
 * Reads the server's events in one tab for all: a browser opens six connections per host, and a seventh tab would hang.
 * The tab with the lock reads and broadcasts; when it closes, the next one resumes after the last event that it received.
 */
export function shareStream(options: StreamOptions): void {
  const { token, signal, onEvent, onConnection } = options;
  // Locks need a secure context: without one every tab reads for itself.
  if (!("locks" in navigator)) {
    void readStream(options);
    return;
  }
  // A lock per token: a tab with an old one is refused, and must not lead the others.
  const name = `${STREAM_LOCK} ${token}`;
  const channel = new BroadcastChannel(name);
  let isLeading = false;
  let connection: Connection = "connecting";
  const broadcast = (message: TabMessage): void => channel.postMessage(message);
  channel.addEventListener("message", ({ data }: MessageEvent<TabMessage>) => {
    clearTimeout(answerTimer);
    if (data.type === "hello") {
      if (!isLeading) return;
      const n = options.after();
      if (n !== undefined) broadcast({ type: "event", event: { event: "start", data: {} }, n });
      broadcast({ type: "connection", connection });
    } else if (data.type === "connection") {
      onConnection(data.connection);
    } else {
      onEvent(data.event, data.n);
    }
  });
  broadcast({ type: "hello" });
  // The leading tab may be suspended: without an answer this tab loads the page's content anyway.
  const answerTimer = setTimeout(() => onConnection("connecting"), ANSWER_MS);
  const lead = async (): Promise<void> => {
    clearTimeout(answerTimer);
    isLeading = true;
    await readStream({
      ...options,
      onEvent: (event, n) => {
        onEvent(event, n);
        broadcast({ type: "event", event, n });
      },
      onConnection: (now) => {
        connection = now;
        onConnection(now);
        broadcast({ type: "connection", connection });
      },
    });
  };
  signal.addEventListener("abort", () => channel.close());
  // Rejects when the signal aborts the wait for the lock.
  navigator.locks.request(name, { signal }, lead).catch(() => {});
}
