/** Where one kind of signal is posted to. */
export interface Destination {
  /** All of the address. */
  url: string;
  headers?: Readonly<Record<string, string>>;
  /** The time limit of a request, and of the last one of a process that ends. */
  timeoutMs?: number;
}

/** A process that ends waits no longer than this for its last request, unless a time limit is set. */
const LAST_REQUEST_MS = 1000;

/** Whether the collector has taken it. Does not throw. */
export async function post(
  { url, headers = {}, timeoutMs = 10_000 }: Destination,
  body: object,
): Promise<boolean> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

/** Waits for the last request of a process. */
export async function awaitLast(
  last: Promise<void>,
  { timeoutMs = LAST_REQUEST_MS }: Destination,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const end = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs);
  });
  await Promise.race([last, end]);
  clearTimeout(timer);
}
