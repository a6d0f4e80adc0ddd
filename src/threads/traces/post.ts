/** Where one kind of signal is posted to. */
export interface Destination {
  /** All of the address. */
  url: string;
  headers?: Readonly<Record<string, string>>;
  /** The collector's time limit. */
  timeoutMs?: number;
}

/** A process that ends waits no longer than this. */
const GOODBYE_MS = 1000;

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

/** Waits for the last request of a process, a moment. */
export async function goodbye(last: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const end = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, GOODBYE_MS);
  });
  await Promise.race([last, end]);
  clearTimeout(timer);
}
