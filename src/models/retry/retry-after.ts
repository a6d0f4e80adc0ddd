/** A server that wants us to wait longer than this has refused. */
export const LONGEST_WAIT = 60_000;

/** The milliseconds that a response's headers ask to wait. */
export function retryAfter(headers: Pick<Headers, "get">): number | undefined {
  const milliseconds = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (milliseconds >= 0) return milliseconds;
  const after = headers.get("retry-after");
  if (after === null) return undefined;
  const wait = Number.isNaN(Number(after)) ? Date.parse(after) - Date.now() : Number(after) * 1000;
  return Number.isNaN(wait) ? undefined : Math.max(wait, 0);
}
