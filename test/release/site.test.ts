import { existsSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { closeContexts, expectWithin, hasBrowser, openBrowser, openPage } from "../helpers/page/browser.ts";
import { run } from "../helpers/terminal/run-program.ts";

/** Rules that axe looks for; tables of two columns have no heads here. */
const WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

const TYPES: Record<string, string> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
};

// The build fails for a link that leads nowhere.
beforeAll(async () => {
  const { ok, stderr } = await run("node", ["site/build.mjs"]);
  if (!ok) throw new Error(stderr);
});

const { entryPoints } = JSON.parse(readFileSync("site/typedoc.json", "utf8")) as { entryPoints: string[] };

it.each(entryPoints)("every name that %s exports has a page of the reference", (entry) => {
  const source = entry.replace("../", "");
  const folder = source.replace(/^src\/|(?:(?<=.)\/index)?\.ts$/g, "");
  const page = readFileSync(join("site/.content/reference", folder, "index.md"), "utf8").replaceAll("\\", "");
  const lists = readFileSync(source, "utf8").matchAll(/^export (?:type )?\{([^}]*)\}/gm);
  const names = [...lists].flatMap(([, list = ""]) => list.match(/\w+(?=\s*(?:,|$))/g) ?? []);
  expect(names).not.toEqual([]);
  expect(names.filter((name) => !page.includes(`[${name}]`))).toEqual([]);
});

describe.runIf(hasBrowser)("the site in Chromium", () => {
  let browser: Browser;
  let server: Server;
  let url: string;

  beforeAll(async () => {
    browser = await openBrowser();
    server = createServer((request, response) => {
      const path = join("site/dist", decodeURIComponent(request.url!.split(/[?#]/)[0]!));
      const file = [path, `${path}.html`, join(path, "index.html")].find(
        (name) => extname(name) && existsSync(name),
      );
      response.writeHead(file ? 200 : 404, { "content-type": TYPES[extname(file ?? "")] ?? "text/plain" });
      response.end(file ? readFileSync(file) : "");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  afterAll(async () => {
    await closeContexts(browser);
    server.close();
  });

  it.each([
    "/",
    "/getting-started",
    "/tutorials/slack",
    "/a-turn",
    "/plan",
    "/troubleshooting",
    "/examples/",
    "/reference/",
  ])("%s is sound", async (path) => {
    const page = await openPage(browser, `${url}${path}`);
    await page.locator("h1").first().waitFor();
    await expectWithin(page, WCAG);
    await page.context().close();
  });

  it("plays a script in the playground: the plan, the model's input, and script errors", async () => {
    const page: Page = await openPage(browser, `${url}/playground`);
    const result = page.locator("#plan-playground .result");
    await result.getByText("Request 5").waitFor();
    expect(await result.textContent()).toContain("3 [completed] Run the tests");
    expect(await result.textContent()).toMatch(/Request 5.*2/s);
    await page.locator("#plan-playground textarea").fill("[not a script");
    await page.getByRole("button", { name: "Run" }).click();
    await result.getByText("The script cannot be played").waitFor();
    await expectWithin(page, WCAG);
  });
});
