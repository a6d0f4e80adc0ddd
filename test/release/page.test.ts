import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  closeTabs,
  expectSound,
  expectText,
  hasBrowser,
  closeContexts,
  openBrowser,
  openContext,
  openTab,
  openTimeline,
} from "../helpers/page/browser.ts";
import { ServedPage } from "../helpers/page/served-page.ts";
import { run } from "../helpers/terminal/run-program.ts";

const MOST_BYTES = 60_000;

describe("the built page", () => {
  const files = readdirSync("dist/page/assets").map((name) => join("dist/page/assets", name));

  it("is 60 kB at most on its way to the browser", () => {
    const bytes = [...files, "dist/page/index.html"].map((file) => gzipSync(readFileSync(file)).length);
    expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(MOST_BYTES);
  });

  it("has no inline script or style, and requests nothing from other hosts", () => {
    const html = readFileSync("dist/page/index.html", "utf8");
    expect(html).not.toMatch(/<style|style=|\son\w+=|<script(?![^>]*\ssrc=)/);
    const addresses = [html, ...files.map((file) => readFileSync(file, "utf8"))]
      .flatMap((text) => text.match(/(?:src|href)="[^"]*"|url\([^)]*\)|https?:\/\/[\w.-]+/g) ?? [])
      // Names of XML dialects are addresses of nothing.
      .filter((address) => !address.startsWith("http://www.w3.org"));
    // Assets of its own, places in what it shows, and links of an exported conversation, which people follow.
    expect(addresses.filter((address) => !/"(?:\.\/assets\/|#|\$\{)/.test(address))).toEqual([]);
  });
});

describe.runIf(hasBrowser)("holdfast serve in a browser", () => {
  let browser: Browser;
  let context: BrowserContext;
  /** One whose model answers at once, and one whose model takes its time. */
  const served = new ServedPage();
  const slow = new ServedPage();
  const token = "a-token-of-the-test-itself";

  beforeAll(async () => {
    [browser] = await Promise.all([openBrowser(), served.start(), slow.start({ pace: 2, token })]);
    context = await openContext(browser);
  });
  afterAll(() => Promise.all([closeContexts(browser), served.close(), slow.close()]));
  afterEach(async () => {
    await closeTabs(context);
    await Promise.all([served.clear(), slow.clear()]);
  });

  /** Who looks at it asked for less motion: what moves all the time is drawn all the time. */
  const open = async (address: string): Promise<Page> => {
    const page = await context.newPage();
    await page.emulateMedia({ reducedMotion: "reduce" });
    return openTab(page, address);
  };
  const plan = (page: Page) => page.getByRole("region", { name: "Plan" });
  const files = (page: Page) => page.getByRole("region", { name: "Files" });
  const give = async (page: Page, task = "Survey this directory"): Promise<void> => {
    await page.getByLabel("Task", { exact: true }).fill(task);
    await page.keyboard.press("Enter");
  };
  const expectStatus = (page: Page, words: string) => expectText(page.getByRole("status"), words);

  it("shows a task's plan, sub-agents, files and answer, also after a reload", async () => {
    const page = await open(served.address);
    await give(page);
    await expectText(page, /The report is in survey.md/);
    await expectStatus(page, "Idle");
    await expectText(page.locator("footer"), /tokens$/, /^\$0\.\d+$/);
    const check = async (): Promise<void> => {
      await expectText(page, /The report is in survey.md/);
      await expectText(plan(page), "8 of 8 done");
      const item = plan(page).getByRole("listitem").filter({ hasText: "Find leftover markers" });
      await expectText(item, /Done · offline · /);
      await expect.poll(() => item.getByText("general-purpose", { exact: true }).count()).toBe(0);
      await files(page)
        .getByRole("button", { name: /survey.md New/ })
        .waitFor();
    };
    await check();
    await files(page).getByRole("button").click();
    await expectText(files(page), /# Survey/);
    await expectSound(page);
    await page.reload();
    await check();
    expect(existsSync(join(served.dir, "survey.md"))).toBe(true);
  });

  it("shows a plan for approval and a file's diff, and continues with the decisions", async () => {
    const page = await open(served.address);
    await page.getByText("Options").click();
    await page.getByLabel("Show me the plan first").selectOption("first");
    await page.getByRole("combobox", { name: /^Mode/ }).selectOption("ask");
    await expectSound(page);
    await give(page);
    const proposal = page.getByRole("region", { name: "The agent proposes a plan" });
    await proposal.getByRole("textbox", { name: "Item 1" }).fill("List all files and their sizes");
    await proposal.getByRole("button", { name: "Approve with my changes" }).click();
    const write = page.getByRole("region", { name: "The agent wants to use write_file" });
    await expectText(write, "/survey.md", /# Survey/);
    await expectStatus(page, "Waits for you");
    await expectSound(page);
    await write.getByRole("button", { name: "Approve" }).click();
    await expectText(page, /The report is in survey.md/);
    await expectText(plan(page), "List all files and their sizes", "8 of 8 done");
  });

  it("compares a requested file with the existing file, and keeps the diff afterwards", async () => {
    const old = "# Survey\n\nMade by Holdfast's offline model, long ago.\n";
    writeFileSync(join(served.dir, "survey.md"), old);
    const page = await open(served.address);
    await page.getByText("Options").click();
    await page.getByRole("combobox", { name: /^Mode/ }).selectOption("ask");
    await give(page);
    const write = page.getByRole("region", { name: "The agent wants to use write_file" });
    await expectText(write.locator(".line-removed"), /long ago/);
    expect(await write.getByText("All of the file is shown.").count()).toBe(0);
    await expectSound(page);
    await write.getByRole("button", { name: "Approve" }).click();
    await expectText(page, /The report is in survey.md/);
    await files(page)
      .getByRole("button", { name: /survey.md Changed \+\d+ −1/ })
      .click();
    await expectText(files(page).locator(".line-removed"), /long ago/);
  });

  it("shows a thread of the terminal, and the terminal shows the threads of the page", async () => {
    const page = await open(served.address);
    await expectText(page, "No threads yet.");
    const command = (...args: string[]) =>
      run(process.execPath, ["dist/surfaces/cli/main.js", ...args, "--state", served.state]);
    await command("run", "--dir", served.dir, "--model", "offline", "--quiet", "Survey this directory");
    // Whoever comes back from the terminal looks at the page.
    await page.evaluate("window.dispatchEvent(new Event('focus'))");
    await page.getByRole("link", { name: /Survey this directory/ }).click();
    await expectText(page, /The report is in survey.md/);
    await expectText(plan(page), "8 of 8 done");
    await page.getByLabel("Next task").fill("Tell me a joke");
    await page.keyboard.press("Enter");
    await expectText(page, /not a language model/);
    await expectText(page, "offline declined the task.");
    const id = decodeURIComponent(page.url().split("#/t/")[1] ?? "");
    expect((await command("show", id, "--answer")).stdout).toContain("not a language model");
  });

  it("asks a sub-agent's question in the parent's conversation, in eight tabs at once", async () => {
    const { origin, hash } = new URL(served.address);
    const response = await fetch(`${origin}/holdfast/threads`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${hash.slice("#token=".length)}`,
        "content-type": "application/json",
      },
      body: JSON.stringify({ task: "Survey this directory", settings: { ask: ["grep"] } }),
    });
    const { thread } = (await response.json()) as { thread: { id: string } };
    const page = await open(served.address);
    await page.getByRole("link", { name: /Survey this directory/ }).click();
    const ASKS = /^The sub-agent .+ wants to use grep$/;
    const own = page.getByRole("region", { name: "The agent wants to use grep" });
    const card = page.getByRole("region", { name: ASKS }).first();
    const approve = async (): Promise<boolean> => {
      // It may be gone before it is pressed.
      for (const button of await own.getByRole("button", { name: "Approve" }).all())
        await button.click({ timeout: 1000 }).catch(() => {});
      return card.isVisible();
    };
    await expect.poll(approve, { timeout: 120_000 }).toBe(true);
    await expectText(card, "pattern", /TODO/);
    const tabs = await Promise.all(
      Array.from({ length: 7 }, async () =>
        openTab(await page.context().newPage(), `${origin}/#/t/${thread.id}`),
      ),
    );
    await Promise.all(tabs.map((tab) => expectText(tab, ASKS)));
    await card.getByRole("button", { name: "Reject" }).click();
    await page.getByLabel("Why not?").fill("Not now");
    await card.getByRole("button", { name: "Reject" }).click();
    await Promise.all([page, ...tabs].map((tab) => expectText(tab, /You rejected grep: Not now/)));
  });

  it("stops, continues, and forks from an earlier moment", async () => {
    const page = await open(slow.address);
    await give(page);
    await expectText(plan(page), /[1-5] of 8 done/);
    await page.getByRole("button", { name: "Stop" }).click();
    await expectStatus(page, "Stopped");
    await page.getByRole("button", { name: "Resume" }).click();
    await expectText(plan(page), /[2-7] of 8 done/);
    await page.getByRole("button", { name: "Stop" }).click();
    await expectStatus(page, "Stopped");
    const slider = await openTimeline(page);
    await slider.press("Home");
    await expectText(page, /You look at .*, 0 of 0 done/);
    await slider.press("ArrowRight");
    const here = page.url();
    await page.getByRole("button", { name: "Fork from here" }).click();
    await expect.poll(() => page.url()).not.toBe(here);
    await expectText(page, "Survey this directory");
    expect(await page.getByRole("listitem").filter({ hasText: "Survey this directory" }).count()).toBe(2);
  });

  it("changes the plan during a run, and shows both versions of a conflicting item", async () => {
    const page = await open(slow.address);
    const save = plan(page).getByRole("button", { name: "Save the plan" });
    await give(page);
    await expectText(plan(page), /[1-5] of 8 done/);
    await plan(page).getByRole("button", { name: "Edit" }).click();
    await plan(page).getByRole("textbox", { name: "Item 8" }).fill("Check survey.md twice");
    await save.click();
    await expectText(page, /You renamed an item to “Check survey.md twice”/);
    await expectStatus(page, "Working");

    await plan(page).getByRole("button", { name: "Edit" }).click();
    await plan(page)
      .getByRole("combobox", { name: /Write survey.md/ })
      .selectOption("cancelled");
    // The agent comes to it while it is being changed.
    const conflict = plan(page).getByRole("group", { name: "Changed by both of you" });
    await expectText(conflict, "Write survey.md (Cancelled)", /Write survey.md \((In progress|Done)\)/);
    await conflict.getByRole("button", { name: "Take theirs" }).click();
    expect(await save.isDisabled()).toBe(true);
    await plan(page).getByRole("button", { name: "Cancel" }).click();
    await expectText(page, /The report is in survey.md/);
    await expectText(plan(page), "Check survey.md twice", "8 of 8 done");
  });

  it("clears nothing when the server is killed, and continues when the server is back", async () => {
    const page = await open(slow.address);
    await give(page);
    await expectText(plan(page), /[1-5] of 8 done/);
    await slow.kill("SIGKILL");
    await expectStatus(page, "Connection lost.");
    await expectText(plan(page), "List the files and their sizes");
    const port = Number(new URL(slow.address).port);
    await slow.start({ pace: 0, token, port });
    // The next server finishes what the killed one had begun.
    await expectText(page, /The report is in survey.md/);
    await expectText(plan(page), "8 of 8 done");
    expect(await page.getByText(/The report is in survey.md/).count()).toBe(1);
  });
});
