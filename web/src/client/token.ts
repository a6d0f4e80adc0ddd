import { STREAM_LOCK } from "./tabs.ts";

const KEY = "holdfast-token";
const CHANNEL = "holdfast-token";
/** The time for another tab to answer; a busy machine may have eight of them. */
const PATIENCE_MS = 5000;

/**
 * The key of the server: from the address, out of which it is taken at once; else from before a reload; else from
 * another tab of this page. Never a cookie: those go to every port of the host.
 */
export async function findToken(): Promise<string | undefined> {
  const given = addressedToken();
  if (given) {
    sessionStorage.setItem(KEY, given);
    history.replaceState(null, "", location.pathname + location.search);
  }
  const token = given ?? sessionStorage.getItem(KEY) ?? (await askOtherTabs());
  if (token) sessionStorage.setItem(KEY, token);
  return token;
}

/** The key in the address, where it has one. */
export function addressedToken(): string | null {
  return new URLSearchParams(location.hash.slice(1)).get("token");
}

async function askOtherTabs(): Promise<string | undefined> {
  if (!(await isOtherTabOpen())) return undefined;
  const channel = new BroadcastChannel(CHANNEL);
  return new Promise((resolve) => {
    const done = (token?: string): void => {
      clearTimeout(timer);
      channel.close();
      resolve(token);
    };
    const timer = setTimeout(done, PATIENCE_MS);
    channel.addEventListener("message", ({ data }: MessageEvent<{ token?: string }>) => {
      if (data.token) done(data.token);
    });
    channel.postMessage({});
  });
}

/** Some tab holds the stream of events, or waits for it. */
async function isOtherTabOpen(): Promise<boolean> {
  if (!("locks" in navigator)) return false;
  const { held = [], pending = [] } = await navigator.locks.query();
  return [...held, ...pending].some(({ name }) => name?.startsWith(STREAM_LOCK));
}

/** Gives the key to tabs that ask for it, for as long as it is valid. */
export function answerOtherTabs(token: string, isValid: () => boolean): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.addEventListener("message", ({ data }: MessageEvent<{ token?: string }>) => {
    if (!data.token && isValid()) channel.postMessage({ token });
  });
}
