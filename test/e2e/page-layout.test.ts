import type { Page } from "playwright-core";
import { describe, it } from "vitest";
import { expectSoundInBoth, expectText, hasBrowser, openTimeline, WIDTHS } from "../helpers/page/browser.ts";
import { COMMAND, WRITE } from "../helpers/page/questions.ts";
import type { ThreadEvents } from "../helpers/page/stand-in.ts";
import { pageSuite } from "../helpers/page/suite.ts";
import {
  BUSY_PLAN,
  busyThread,
  failedThread,
  planChange,
  THREAD,
  threadOf,
} from "../helpers/page/thread-events.ts";

interface State {
  /** A new one for each try: what happens in it is written into it. */
  thread?: () => ThreadEvents;
  /** How much of a list the server gives at once. */
  pageSize?: number;
  /** What the server refuses once. */
  refused?: string[];
  /** Brings the page there. */
  reach?: (page: Page) => Promise<void>;
  /** What is to be read then. */
  words: (string | RegExp)[];
  /** The tab that it is under, where there are tabs. */
  tab?: string;
}

describe.runIf(hasBrowser)("the page", () => {
  const suite = pageSuite();
  const waiting = (more: Partial<ThreadEvents>) => (): ThreadEvents => ({
    ...busyThread(),
    thread: threadOf({ status: "waiting" }),
    ...more,
  });
  const states: Record<string, State> = {
    "nothing in it": { words: ["Give a task"] },
    "a question": {
      thread: waiting({ questions: [WRITE] }),
      words: ["Two of them are checked on the server."],
    },
    "a plan to approve": {
      thread: waiting({
        questions: [{ id: "q", kind: "plan-approval", text: "", options: [], todos: BUSY_PLAN }],
      }),
      words: ["The agent proposes a plan"],
    },
    "a rejected call": {
      thread: waiting({ questions: [WRITE, COMMAND] }),
      reach: async (page) => {
        const card = page.getByRole("region", { name: "The agent wants to use write_file" });
        await card.getByRole("button", { name: "Reject" }).click();
        await card.getByLabel("Why not?").fill("Too short");
        await card.getByRole("button", { name: "Reject" }).click();
      },
      words: ["Rejected: Too short", "1 of 2 decided."],
    },
    "an item that both changed": {
      thread: busyThread,
      reach: async (page) => {
        await page.keyboard.press("e");
        await page.getByRole("textbox", { name: "Item 4" }).fill("Rewrite it by hand");
        const theirs = BUSY_PLAN.map((item) => (item.id === "4" ? { ...item, content: "At once" } : item));
        suite.server.tell({ ...suite.at(50), ...planChange(theirs) });
      },
      words: ["The agent changed this item too.", "At once (To do)"],
    },
    "an earlier moment on the time line": {
      thread: busyThread,
      reach: async (page) => {
        await (await openTimeline(page)).focus();
        for (let step = 0; step < 4; step += 1) await page.keyboard.press("ArrowLeft");
      },
      words: [/You look at .*, 1 of 5 done/],
      tab: "Plan",
    },
    "earlier steps to load": {
      thread: busyThread,
      pageSize: 3,
      reach: async (page) => void (await openTimeline(page)),
      words: ["Earlier steps"],
      tab: "Plan",
    },
    "a failed run": { thread: failedThread, words: ["The run failed.", "The model refused the key."] },
    "a part that could not be loaded": {
      thread: busyThread,
      refused: [`GET threads/${THREAD}/files`, "GET info"],
      words: ["The files could not be loaded. Not now."],
      tab: "Files",
    },
    "a lost connection": {
      thread: busyThread,
      reach: async () => suite.server.drop(),
      words: ["Connection lost."],
    },
  };

  it.each(Object.entries(states))(
    "looks sound with %s at every width, light and dark",
    async (_name, state) => {
      const { thread, pageSize, refused = [], reach, words, tab } = state;
      if (pageSize !== undefined) suite.server.pageSize = pageSize;
      for (const route of refused) {
        suite.server.replies.set(route, [{ status: 500, body: { error: "internal", message: "Not now." } }]);
      }
      if (thread) suite.server.add(thread());
      // Colours that are on their way to others are neither.
      const options = { reducedMotion: "reduce" } as const;
      const page = await (thread ? suite.openThread(options) : suite.open(options));
      await reach?.(page);
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 800 });
        const tabs = page.getByRole("button", { name: "Threads", exact: true });
        await tabs.waitFor({ state: width > 800 ? "detached" : "visible" });
        if (tab !== undefined && width <= 800)
          await page.getByRole("button", { name: tab, exact: true }).click();
        await expectText(page, ...words);
        await expectSoundInBoth(page);
      }
    },
  );
});
