const PACE_MS = 100;

const NOTIFICATIONS: readonly unknown[] = ["notifications/cancelled", "notifications/tools/list_changed"];

/**
 * Creates a filter for the messages of a server: drops notifications that no code here handles, and progress messages in
 * quick succession.
 */
export function messageFilter(): (message: unknown) => boolean {
  /** The time of the last progress message, by token. */
  const lastTimes = new Map<unknown, number>();
  return (message) => {
    if (typeof message !== "object" || message === null) return false;
    const { id, method, params } = message as { id?: unknown; method?: unknown; params?: unknown };
    if (id !== undefined || method === undefined) return true;
    if (method !== "notifications/progress") return NOTIFICATIONS.includes(method);
    const { progressToken: token } = (params ?? {}) as { progressToken?: unknown };
    const now = performance.now();
    if (now - (lastTimes.get(token) ?? -Infinity) < PACE_MS) return false;
    if (lastTimes.size > 1000) lastTimes.clear();
    lastTimes.set(token, now);
    return true;
  };
}
