// Takes docs/page.png and docs/page-dark.png from a real run: the offline survey of the examples on `holdfast serve`, with helpers at work.
import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";
import { findBrowser, FLAGS } from "./browser.mjs";

const root = new URL("..", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "holdfast-"));
// A name that says what it is: the page shows it.
const dir = join(tmpdir(), "examples");
cpSync(join(root, "examples"), dir, { recursive: true });

const args = [
  "serve",
  "--port",
  "0",
  "--dir",
  dir,
  "--state",
  join(folder, "threads.db"),
  "--model",
  "offline",
];
const server = spawn(process.execPath, [join(root, "dist/surfaces/cli/main.js"), ...args], {
  env: { ...process.env, HOLDFAST_PACE: "2" },
  stdio: ["ignore", "pipe", "inherit"],
});
const browser = await chromium.launch({ executablePath: findBrowser(), args: FLAGS });
try {
  const address = await firstLine(server.stdout);
  const page = await browser.newPage({ viewport: { width: 1280, height: 880 }, deviceScaleFactor: 1.5 });
  await page.goto(address);
  await page.getByLabel("Task", { exact: true }).fill("Survey this directory");
  await page.keyboard.press("Enter");
  await page.getByText("Get their line numbers").waitFor();
  await page.waitForTimeout(1000);
  await page.mouse.move(0, 0);
  await page.evaluate("document.activeElement.blur()");
  for (const [colorScheme, name] of [
    ["light", "docs/page.png"],
    ["dark", "docs/page-dark.png"],
  ]) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: join(root, name) });
    console.log(name);
  }
} finally {
  await browser.close();
  server.kill();
  for (const path of [folder, dir]) rmSync(path, { recursive: true, force: true });
}

async function firstLine(stream) {
  for await (const line of createInterface({ input: stream })) return line.trim();
  throw new Error("The server said nothing.");
}
