import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { build } from "vite";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createDeepAgent } from "../../src/deep/index.ts";
import { callTool, ScriptedModel, type Step } from "../../src/testing/index.ts";
import {
  closeContexts,
  expectSound,
  expectText,
  hasBrowser,
  openBrowser,
  openPage,
} from "../helpers/page/browser.ts";
import { serve, type Served } from "../helpers/page/graph-server.ts";
import { ServedPage } from "../helpers/page/served-page.ts";

const TODOS = callTool("write_todos", { todos: [{ content: "Write", status: "in_progress" }] });
const WRITE = callTool("write_file", { file_path: "/a.md", content: "as asked" });
const DONE = callTool("update_todos", { done: ["1"], note: "by hand" });

/** A loaded machine is slow, not wrong. */
const PATIENCE = { timeout: 120_000 };

/** A model that says as many words as it is let. */
class HeldModel extends ScriptedModel {
  #words = 0;
  #waiting: (() => void) | undefined;

  let(words: number): void {
    this.#words += words;
    this.#waiting?.();
  }

  protected override async pause(): Promise<void> {
    while (this.#words === 0) {
      await new Promise<void>((resolve) => {
        this.#waiting = resolve;
      });
    }
    this.#words -= 1;
  }
}

describe.runIf(hasBrowser)("a page on useStream of @langchain/react", () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-react-"));
  let browser: Browser;
  let site: Server;
  let origin: string;
  let served: Served | undefined;

  beforeAll(async () => {
    await build({
      root: "test/release/react-client",
      configFile: false,
      logLevel: "error",
      build: { outDir: folder, emptyOutDir: true, chunkSizeWarningLimit: 2000 },
    });
    site = createServer(({ url = "/" }, response) => {
      const { pathname } = new URL(url, "http://page");
      const isScript = extname(pathname) === ".js";
      response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
      response.end(readFileSync(join(folder, isScript ? pathname : "index.html")));
    });
    await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
    origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    browser = await openBrowser();
  });
  afterEach(async () => {
    await closeContexts(browser);
    await served?.close();
    served = undefined;
  });
  afterAll(async () => {
    site.closeAllConnections();
    await new Promise((resolve) => site.close(resolve));
    rmSync(folder, { recursive: true, force: true });
  });

  const visit = (server: string, token: string, assistant: string): Promise<Page> =>
    openPage(browser, `${origin}/?${new URLSearchParams({ server, token, assistant }).toString()}`);
  const open = async (model: ScriptedModel, interruptOn: Record<string, boolean> = {}): Promise<Page> => {
    served = await serve({ agent: createDeepAgent({ model, interruptOn }) }, { origins: [origin] });
    return visit(served.url, served.token, "agent");
  };
  const scripted = (...steps: Step[]): HeldModel => {
    const model = new HeldModel(steps);
    model.let(100);
    return model;
  };
  const give = async (page: Page, task: string): Promise<void> => {
    await page.getByLabel("Task").fill(task);
    await page.keyboard.press("Enter");
  };
  const linesOf = (page: Page, list: string) =>
    page.getByRole("list", { name: list, exact: true }).getByRole("listitem");
  const expectLines = async (page: Page, list: string, lines: string[]): Promise<void> => {
    await expect.poll(() => linesOf(page, list).allInnerTexts(), PATIENCE).toEqual(lines);
  };
  const expectStatus = (page: Page, status: string) => expectText(page.getByRole("status"), status);

  it("streams text, calls, todos and files, also after a reload, and reads the past", async () => {
    const model = new HeldModel([[TODOS, WRITE], DONE, "It is written."]);
    const page = await open(model);
    await expectStatus(page, "Idle");
    await expectSound(page);
    await give(page, "Write");
    model.let(2);
    await expectLines(page, "Files", ["/a.md: as asked"]);
    await expectLines(page, "Todos", ["Write: completed"]);
    await expectLines(page, "Calls", [
      "write_todos: finished",
      "write_file: finished",
      "update_todos: finished",
    ]);
    await expect.poll(() => linesOf(page, "Messages").last().innerText(), PATIENCE).toBe("ai: It is");
    await expectStatus(page, "Working");
    const said = (await linesOf(page, "Messages").allInnerTexts()).slice(0, -1);

    await page.reload();
    await expectStatus(page, "Working");
    await expectLines(page, "Messages", [...said, "ai: It is"]);
    model.let(1);
    const check = async (): Promise<void> => {
      await expectLines(page, "Messages", [...said, "ai: It is written."]);
      await expectLines(page, "Files", ["/a.md: as asked"]);
      await expectLines(page, "Todos", ["Write: completed"]);
      await expectStatus(page, "Idle");
    };
    await check();
    await page.reload();
    await check();
    await page.getByRole("button", { name: "Past" }).click();
    await expectText(page.getByRole("list", { name: "Past" }), `${said.length + 3} messages`, "0 messages");
    await expectSound(page);
    expect(await page.getByRole("alert").count()).toBe(0);
  });

  it("asks in both spellings, and takes an answer in either, also after a reload", async () => {
    const page = await open(scripted(WRITE, WRITE, WRITE, "It is written."), { write_file: true });
    await give(page, "Write");
    const approval = page.getByRole("region", { name: "Approval" });
    const check = async (): Promise<void> => {
      await expectLines(page, "In JavaScript", ["write_file"]);
      await expectLines(page, "In Python", ["write_file"]);
      await expectStatus(page, "Idle");
    };
    await check();
    await expectSound(page);
    await approval.getByRole("button", { name: "Approve" }).click();
    await expectLines(page, "Files", ["/a.md: as asked"]);
    await check();
    await page.reload();
    await check();
    await approval.getByRole("button", { name: "Edit", exact: true }).click();
    await expectLines(page, "Files", ["/a.md: edited"]);
    await check();
    await approval.getByRole("button", { name: "Edit, as Python says it" }).click();
    await expectText(page, "ai: It is written.");
    await expectStatus(page, "Idle");
    expect(await approval.count()).toBe(0);
    expect(await page.getByRole("alert").count()).toBe(0);
  });

  it("stops a run on the server, and continues with the next message", async () => {
    const model = new HeldModel(["One two three.", "Four."]);
    const page = await open(model);
    await give(page, "Count");
    model.let(2);
    await expectText(page, "ai: One two");
    await page.getByRole("button", { name: "Stop" }).click();
    await expectStatus(page, "Idle");
    const thread = new URL(page.url()).searchParams.get("thread")!;
    await expect
      .poll(async () => (await served!.client.runs.list(thread)).map(({ status }) => status), PATIENCE)
      .toEqual(["interrupted"]);
    model.let(100);
    await give(page, "Go on");
    await expectText(page, "ai: Four.");
    await expectStatus(page, "Idle");
  });

  it("works on `holdfast serve`, whose token and origin it is given", async () => {
    const process = new ServedPage();
    try {
      await process.start({ flags: ["--allow-origin", "http://localhost:3000", "--allow-origin", origin] });
      const { origin: server, hash } = new URL(process.address);
      const page = await visit(server, hash.slice("#token=".length), "holdfast");
      await give(page, "Survey this directory");
      await expectText(page, /^ai: /, /The report is in survey.md/);
      await expectStatus(page, "Idle");
      const statuses = (await linesOf(page, "Todos").allInnerTexts()).map((line) => line.split(": ").at(-1));
      expect(statuses).toEqual(Array.from({ length: 8 }, () => "completed"));
      await expectSound(page);
      expect(await page.getByRole("alert").count()).toBe(0);
    } finally {
      await process.close();
    }
  });
});
