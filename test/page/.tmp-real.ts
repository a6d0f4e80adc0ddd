import { spawn } from "node:child_process";
import { cpSync, mkdtempSync } from "node:fs";
import { chromium } from "playwright-core";
import { FLAGS, findBrowser } from "../../scripts/browser.mjs";
const dir = mkdtempSync("/tmp/real-");
cpSync("examples", dir, { recursive: true });
const server = spawn(
  process.execPath,
  [
    "dist/surfaces/cli/main.js",
    "serve",
    "--port",
    "0",
    "--dir",
    dir,
    "--state",
    dir + ".db",
    "--model",
    "offline",
  ],
  { env: { ...process.env, HOLDFAST_PACE: process.argv[2] ?? "1" }, stdio: ["ignore", "pipe", "inherit"] },
);
const url = await new Promise<string>((r) => server.stdout.on("data", (d) => r(String(d).trim())));
console.log(url);
const browser = await chromium.launch({ executablePath: findBrowser()!, args: FLAGS });
const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
const page = await context.newPage();
page.on("console", (m) => console.log("console", m.type(), m.text()));
page.on("pageerror", (e) => console.log("error", e.message, e.stack));
await page.goto(url);
await page.getByLabel("Task").fill("Survey this directory");
await page.keyboard.press("Enter");
for (let i = 0; i < 4; i++) {
  await page.waitForTimeout(Number(process.argv[3] ?? 2500));
  await page.screenshot({ path: `/tmp/wt/notes/real-${i}.png` });
}
await page.reload();
await page.waitForTimeout(1500);
await page.screenshot({ path: `/tmp/wt/notes/real-9.png` });
await browser.close();
server.kill("SIGTERM");
