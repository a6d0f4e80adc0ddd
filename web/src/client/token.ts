import { STREAM_LOCK } from "./tabs.ts";

const KEY = "holdfast-token";
const CHANNEL = "holdfast-token";
/** The time for another tab to answer; a busy machine may have eight of them. */
const PATIENCE_MS = 5000;

/**
 * The token of the server: from the URL, which is then rewritten without it; else from the session storage; else from
 * another tab of this page. Never from a cookie: the browser sends those to every port of the host.
 */
export async function findToken(): Promise<string | undefined> {
  const urlToken = addressedToken();
  if (urlToken) history.replaceState(null, "", location.pathname + location.search);
  const token = urlToken ?? sessionStorage.getItem(KEY) ?? (await askOtherTabs());
  if (token) sessionStorage.setItem(KEY, token);
  return token;
}

/** The token in the URL; null without one. */
export function addressedToken(): string | null {
  return new URLSearchParams(location.hash.slice(1)).get("token");
}

async function askOtherTabs(): Promise<string | undefined> {
  if (!(await isOtherTabOpen())) return undefined;
  const channel = new BroadcastChannel(CHANNEL);
  return new Promise((resolve) => {
    const finish = (token?: string): void => {
      clearTimeout(timer);
      channel.close();
      resolve(token);
    };
    const timer = setTimeout(finish, PATIENCE_MS);
    channel.addEventListener("message", ({ data }: MessageEvent<{ token?: string }>) => {
      if (data.token) finish(data.token);
    });
    channel.postMessage({});
  });
}

/** Whether another tab holds the lock of the event stream, or waits for it. */
async function isOtherTabOpen(): Promise<boolean> {
  if (!("locks" in navigator)) return false;
  const { held = [], pending = [] } = await navigator.locks.query();
  return [...held, ...pending].some(({ name }) => name?.startsWith(STREAM_LOCK));
}

/** Sends the token to tabs that ask for it, while it is valid. */
export function answerOtherTabs(token: string, isValid: () => boolean): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.addEventListener("message", ({ data }: MessageEvent<{ token?: string }>) => {
    if (!data.token && isValid()) channel.postMessage({ token });
  });
}
