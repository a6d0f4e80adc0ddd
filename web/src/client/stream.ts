import type { StreamEvent } from "./contract.ts";

export type Connection = "connecting" | "open" | "lost" | "refused";

export interface StreamOptions {
  token: string;
  /** The number of the last event received. */
  after: () => number | undefined;
  onEvent: (event: StreamEvent, n: number | undefined) => void;
  onConnection: (connection: Connection) => void;
  signal: AbortSignal;
}

const LONGEST_WAIT_MS = 8000;
/** The server sends a heartbeat every 15 s: a connection silent for longer than this is dead. */
const SILENCE_MS = 40_000;

/** Reads the server's events until the signal aborts, and reconnects as needed. */
export async function readStream(options: StreamOptions): Promise<void> {
  const { signal, onConnection } = options;
  for (let tries = 0; !signal.aborted;) {
    const isRefused = await readOnce(options, () => (tries = 0)).catch(() => false);
    if (signal.aborted) return;
    onConnection(isRefused ? "refused" : "lost");
    await pause(Math.min(LONGEST_WAIT_MS, 250 * 2 ** tries++), signal);
  }
}

/** Reads one connection to its end. Returns whether the server refused the token. */
async function readOnce(
  { token, after, onEvent, onConnection, signal }: StreamOptions,
  onOpen: () => void,
): Promise<boolean> {
  const last = after();
  const silence = new AbortController();
  const response = await fetch("holdfast/events", {
    headers: {
      authorization: `Bearer ${token}`,
      accept: "text/event-stream",
      ...(last !== undefined && { "last-event-id": String(last) }),
    },
    cache: "no-store",
    signal: AbortSignal.any([signal, silence.signal]),
  });
  if (!response.ok || !response.body) return response.status === 401 || response.status === 403;
  onOpen();
  onConnection("open");
  const read = eventReader();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let timer = setTimeout(() => silence.abort(), SILENCE_MS);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return false;
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE_MS);
      for (const { id, event, data } of read(value)) {
        onEvent({ event, data: JSON.parse(data) as object } as StreamEvent, id ? Number(id) : undefined);
      }
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Waits, or until the network is back, the tab becomes visible or the signal aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(finish, ms);
    function finish(): void {
      clearTimeout(timer);
      window.removeEventListener("online", finish);
      document.removeEventListener("visibilitychange", finish);
      signal.removeEventListener("abort", finish);
      resolve();
    }
    window.addEventListener("online", finish);
    document.addEventListener("visibilitychange", finish);
    signal.addEventListener("abort", finish);
  });
}

interface ServerEvent {
  id?: string;
  event: string;
  data: string;
}

/** Creates a parser of server-sent events for text in arbitrary pieces. Ignores comments. */
export function eventReader(): (piece: string) => ServerEvent[] {
  let rest = "";
  return (piece) => {
    const blocks = (rest + piece).replaceAll("\r\n", "\n").split("\n\n");
    rest = blocks.pop()!;
    return blocks.flatMap(readBlock);
  };
}

function readBlock(block: string): ServerEvent[] {
  let id: string | undefined;
  let event = "message";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const [, field, value = ""] = /^(\w+):? ?(.*)$/s.exec(line) ?? [];
    if (field === "id") id = value;
    if (field === "event") event = value;
    if (field === "data") data.push(value);
  }
  return data.length === 0 ? [] : [{ event, data: data.join("\n"), ...(id !== undefined && { id }) }];
}
