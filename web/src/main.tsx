import { createRoot } from "react-dom/client";
import { createApi } from "./client/api.ts";
import { shareStream } from "./client/tabs.ts";
import { addressedToken, answerOtherTabs, findToken } from "./client/token.ts";
import { addressedThread } from "./store/actions.ts";
import { PageStore } from "./store/page-store.ts";
import "./style/index.css";
import { App } from "./ui/app.tsx";
import { watchAttention } from "./ui/threads/attention.ts";
import { StoreContext } from "./ui/use-store.ts";

const token = await findToken();
const store = new PageStore(createApi(token ?? ""), sessionStorage);
const show = (): Promise<void> => store.open(addressedThread());

window.addEventListener("hashchange", () => {
  // Pasting the URL with a token into an open tab changes only the hash.
  if (addressedToken()) location.reload();
  else if (token !== undefined) void show();
});
if (token === undefined) {
  store.set({ hasToken: false });
} else {
  answerOtherTabs(token, () => store.state.connection !== "refused");
  await show();
  // A page restored from the browser's cache has missed events.
  window.addEventListener("pageshow", ({ persisted }) => {
    if (persisted) void store.load();
  });
  shareStream({
    token,
    after: () => store.last,
    onEvent: store.onEvent,
    onConnection: store.onConnection,
    signal: new AbortController().signal,
  });
  setInterval(store.watch, 5000);
  // Other processes may have created threads in the same store.
  window.addEventListener("focus", () => void store.loadThreads());
  watchAttention(store);
}

createRoot(document.querySelector("#page")!).render(
  <StoreContext.Provider value={store}>
    <App />
  </StoreContext.Provider>,
);
