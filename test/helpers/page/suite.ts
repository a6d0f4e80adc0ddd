import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { closeContexts, closeTabs, openBrowser, openContext, openTab } from "./browser.ts";
import { StandIn, TOKEN } from "./stand-in.ts";
import { START, THREAD } from "./thread-events.ts";

/**
 * One browser for all tests, and a stand-in server for each: its address is another one, so nothing is kept
 * from a test to the next.
 */
export function pageSuite() {
  let browser: Browser;
  let context: BrowserContext;
  let server: StandIn;
  let url: string;

  beforeAll(async () => {
    browser = await openBrowser();
    context = await openContext(browser);
  });
  afterAll(() => closeContexts(browser));
  beforeEach(async () => {
    server = new StandIn();
    url = await server.start();
  });
  afterEach(async () => {
    await closeTabs(context);
    await server.stop();
  });

  const open = async ({ viewport, ...media }: Looks = {}): Promise<Page> => {
    const page = await context.newPage();
    if (viewport) await page.setViewportSize(viewport);
    await page.emulateMedia(media);
    return openTab(page, `${url}#token=${TOKEN}`);
  };
  const openThread = async (looks: Looks = {}): Promise<Page> => {
    const page = await open(looks);
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

interface Looks {
  viewport?: { width: number; height: number };
  colorScheme?: "light" | "dark";
  reducedMotion?: "reduce";
}
