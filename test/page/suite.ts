import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { openBrowser, openPage } from "./browser.ts";
import { StandIn, TOKEN } from "./stand-in.ts";
import { START, THREAD } from "./story.ts";

/** One browser for all tests of a file, and a stand-in server for each. */
export function pageSuite() {
  let browser: Browser;
  let server: StandIn;
  let url: string;

  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    server = new StandIn();
    url = await server.start();
  });
  afterEach(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()));
    await server.stop();
  });

  type Options = Parameters<typeof openPage>[2];
  const open = (options: Options = {}): Promise<Page> => openPage(browser, `${url}#token=${TOKEN}`, options);
  const openThread = async (options: Options = {}): Promise<Page> => {
    const page = await open(options);
    await page.getByRole("link", { name: /Move the settings page/ }).click();
    await page.getByRole("heading", { name: /Move the settings page/ }).waitFor();
    return page;
  };
  return {
    get server() {
      return server;
    },
    get url() {
      return url;
    },
    get browser() {
      return browser;
    },
    open,
    openThread,
    /** The head of an event that happens so many seconds after the story began. */
    at: (seconds: number) => ({ version: 1 as const, thread: THREAD, at: START + seconds * 1000 }),
  };
}
