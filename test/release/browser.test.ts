import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleForBrowser } from "../helpers/measure/bundle.ts";
import { closeContexts, hasBrowser, openBrowser, openContext } from "../helpers/page/browser.ts";
import type { runPlanAgent } from "../helpers/page/plan-agent.ts";

describe.runIf(hasBrowser)("planMiddleware and LangChain's createAgent in Chromium", () => {
  let browser: Browser;
  /** Of this machine: a page of no address has only half of `crypto`. */
  let page: Page;
  let code: string;

  beforeAll(async () => {
    browser = await openBrowser();
    [page] = (await openContext(browser)).pages() as [Page];
    ({ code } = await bundleForBrowser(
      `import { runPlanAgent } from "./test/helpers/page/plan-agent.ts"; globalThis.runPlanAgent = runPlanAgent;`,
    ));
  });

  afterAll(() => closeContexts(browser));

  it.each(["lean", "deerflow"])("keep a plan, and remind the model of open items: %s", async (preset) => {
    await page.reload();
    await page.addScriptTag({ content: code, type: "module" });
    expect(await page.evaluate("[typeof process, typeof Buffer, typeof setImmediate]")).toEqual(
      Array.from({ length: 3 }, () => "undefined"),
    );
    await page.waitForFunction("typeof runPlanAgent === 'function'");
    const ran = (await page.evaluate(`runPlanAgent("${preset}")`)) as Awaited<
      ReturnType<typeof runPlanAgent>
    >;
    expect(ran).toMatchObject({
      todos: ["Step 1: completed", "Step 2: completed"],
      answer: "Now it is.",
      changes: 2,
    });
    expect(ran.lastWords[2]).toContain("Step 2");
  });
});
