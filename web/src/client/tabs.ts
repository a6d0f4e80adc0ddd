import type { StreamEvent } from "./contract.ts";
import { readStream, type Connection, type StreamOptions } from "./stream.ts";

/** The prefix of the lock whose holder reads the stream for all tabs with the same key. */
export const STREAM_LOCK = "holdfast-events";

/** Another tab answers at once. */
const HEARD_MS = 2000;

/** A message from the tab that reads the stream to the others. */
type Told =
  | { type: "event"; event: StreamEvent; n: number | undefined }
  | { type: "connection"; connection: Connection }
  | { type: "hello" };

/**
 * Reads the server's events in one tab for all: a browser has six connections to a host, and a seventh tab would hang.
 * The tab that has the lock reads and tells; when it closes, the next one goes on from where it knows everything.
 */
export function shareStream(options: StreamOptions): void {
  const { token, signal, onEvent, onConnection } = options;
  // Without a secure context there are no locks: every tab reads for itself.
  if (!("locks" in navigator)) {
    void readStream(options);
    return;
  }
  // A tab that was left open may have a key that is not valid any more, and hears nothing that is worth telling.
  const name = `${STREAM_LOCK} ${token}`;
  const channel = new BroadcastChannel(name);
  let leading = false;
  let connection: Connection = "connecting";
  const tell = (told: Told): void => channel.postMessage(told);
  channel.addEventListener("message", ({ data }: MessageEvent<Told>) => {
    clearTimeout(unheard);
    if (data.type === "hello") {
      if (!leading) return;
      const n = options.after();
      if (n !== undefined) tell({ type: "event", event: { event: "start", data: {} }, n });
      tell({ type: "connection", connection });
    } else if (data.type === "connection") {
      onConnection(data.connection);
    } else {
      onEvent(data.event, data.n);
    }
  });
  tell({ type: "hello" });
  // The tab that reads may be asleep: what there is to see does not wait until it wakes up.
  const unheard = setTimeout(() => onConnection("connecting"), HEARD_MS);
  const lead = async (): Promise<void> => {
    clearTimeout(unheard);
    leading = true;
    await readStream({
      ...options,
      onEvent: (event, n) => {
        onEvent(event, n);
        tell({ type: "event", event, n });
      },
      onConnection: (now) => {
        connection = now;
        onConnection(now);
        tell({ type: "connection", connection });
      },
    });
  };
  signal.addEventListener("abort", () => channel.close());
  // Rejected when the wait for the lock is given up.
  navigator.locks.request(name, { signal }, lead).catch(() => {});
}
