import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium, type Browser, type BrowserContext, type Locator, type Page } from "playwright-core";
import { expect } from "vitest";
import { findBrowser, FLAGS } from "../../../scripts/browser.mjs";
import { isRelease } from "../runner/rounds.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Whether there is a browser to look at the page with; in CI there must be one. */
export const hasBrowser = findBrowser() !== undefined;

let launched: Promise<Browser> | undefined;

/** The browser of all test files that run in this process; it ends with the process. */
export function openBrowser(): Promise<Browser> {
  launched ??= chromium.launch({ executablePath: findBrowser()!, args: FLAGS, ...PATIENCE });
  return launched;
}

/** Closes everything that a test file has opened in the browser. */
export async function closeContexts(opened: Browser): Promise<void> {
  await Promise.all(opened.contexts().map((context) => context.close()));
}

/** How long to wait for what should come: a loaded machine is slow, not wrong. */
export const PATIENCE = { timeout: 120_000 };

/** What went wrong in a page: errors, and what its policy refused. */
const problems = new WeakMap<Page, string[]>();

/** A page of its own, with nothing kept from others. */
export async function openPage(browser: Browser, url: string): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
  context.setDefaultTimeout(PATIENCE.timeout);
  return openTab(await context.newPage(), url);
}

/** Where the tabs of several tests are open: one that stays keeps the browser from starting a process for each. */
export async function openContext(browser: Browser): Promise<BrowserContext> {
  const kept = await openPage(browser, "about:blank");
  await kept.route("**", (route) => route.fulfill({ body: "" }));
  await kept.goto("http://127.0.0.1/");
  return kept.context();
}

/** Closes what a test has opened. */
export async function closeTabs(context: BrowserContext): Promise<void> {
  const [, ...tabs] = context.pages();
  const others = context
    .browser()!
    .contexts()
    .filter((each) => each !== context);
  await Promise.all([...tabs, ...others].map((each) => each.close()));
}

/** Opens the page in a tab, and keeps what goes wrong there. */
export async function openTab(page: Page, url: string): Promise<Page> {
  const found: string[] = [];
  problems.set(page, found);
  page.on("pageerror", (error) => found.push(error.message));
  page.on("console", (message) => {
    // A request that a test refuses is said on the console, too.
    const isRefusal = message.text().startsWith("Failed to load resource");
    if (message.type() === "error" && !isRefusal) found.push(message.text());
  });
  page.on("dialog", (dialog) => {
    found.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(url);
  return page;
}

/** These words can be read, now or in a moment. */
export async function expectText(where: Page | Locator, ...words: (string | RegExp)[]): Promise<void> {
  for (const each of words) await where.getByText(each).first().waitFor();
}

/** Shows the time line, which is folded at first; gives its slider. */
export async function openTimeline(page: Page): Promise<Locator> {
  await page.locator(".status button[aria-pressed], .timeline .push").locator("visible=true").first().click();
  return page.getByRole("slider", { name: "Moment of the run" });
}

/** Nothing went wrong, nothing is wider than the window, and axe finds nothing. */
export function expectSound(page: Page): Promise<void> {
  return expectWithin(page, EVERYTHING);
}

/** The same by some of axe's rules. */
export async function expectWithin(page: Page, rules: readonly string[]): Promise<void> {
  await expectWhole(page);
  await expectAccessible(page, rules);
}

/** The same of a state that is reached by hand, where axe looks in a release run only. */
export async function expectSoundByHand(page: Page): Promise<void> {
  await (isRelease ? expectSound : expectWhole)(page);
}

async function expectWhole(page: Page): Promise<void> {
  expect(problems.get(page)).toEqual([]);
  const overflow: unknown = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
  expect(overflow, "wider than the window").toBeLessThanOrEqual(0);
}

/** The same in light colours, and in dark ones, in which only the colours are others. */
export async function expectSoundInBoth(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: "light" });
  await expectSound(page);
  await page.emulateMedia({ colorScheme: "dark" });
  await expectAccessible(page, COLOURS);
}

/** The widths, in pixels, that pages are looked at in. */
export const WIDTHS = isRelease ? [1280, 800, 360] : [800];

/** What axe looks for: rules by their tags, or by their names. */
const EVERYTHING = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const COLOURS = ["color-contrast", "link-in-text-block"];

async function expectAccessible(page: Page, rules: readonly string[]): Promise<void> {
  // Scripts of the test do not go through the page's policy.
  if ((await page.evaluate("typeof axe")) === "undefined") await page.evaluate(AXE);
  // What still moves to its place is looked at again.
  await expect.poll(() => violations(page, rules), PATIENCE).toEqual([]);
}

function violations(page: Page, rules: readonly string[]): Promise<unknown> {
  // Where a bar stays in sight some of what scrolls is under it, except at the end.
  return page.evaluate(
    `document.querySelector(".side")?.scrollTo(0, 1e6);
     axe.run({ runOnly: ${JSON.stringify(rules)}, resultTypes: ["violations"] }).then(({ violations }) =>
       violations.map(({ id, nodes }) => id + ": " + nodes.map(({ target, failureSummary }) => target + " " + failureSummary).join(" | ")))`,
  );
}
