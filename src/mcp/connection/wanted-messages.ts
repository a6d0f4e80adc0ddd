/** The shortest interval between progress messages. */
const PACE_MS = 100;

const NEWS: readonly unknown[] = ["notifications/cancelled", "notifications/tools/list_changed"];

/** Whether a message of a server is of any use: notes about other things, and a flood of progress, are not. */
export function wantedMessages(): (message: unknown) => boolean {
  const heard = new Map<unknown, number>();
  return (message) => {
    if (typeof message !== "object" || message === null) return false;
    const { id, method, params } = message as { id?: unknown; method?: unknown; params?: unknown };
    if (id !== undefined || method === undefined) return true;
    if (method !== "notifications/progress") return NEWS.includes(method);
    const { progressToken: token } = (params ?? {}) as { progressToken?: unknown };
    const now = performance.now();
    if (now - (heard.get(token) ?? -Infinity) < PACE_MS) return false;
    if (heard.size > 1000) heard.clear();
    heard.set(token, now);
    return true;
  };
}
