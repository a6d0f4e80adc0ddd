// Finds a browser for the tests of the page, and installs one in CI where there is none.
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";

const HEADLESS_SHELL = "/usr/bin/chromium-headless-shell";
const PLACES = [
  process.env.CHROME_PATH,
  HEADLESS_SHELL,
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  String.raw`C:\Program Files\Google\Chrome\Application\chrome.exe`,
];

/** What the browser is started with: it talks to nobody but the page's server. */
export const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** The path of a browser; undefined where there is none, which in CI is an error. */
export function findBrowser() {
  const found = PLACES.find(isProgram);
  if (!found && process.env.CI)
    throw new Error("The tests of the page need Chromium: install it, or set CHROME_PATH to it.");
  return found;
}

/**
 * Installs a browser by apt-get: the headless shell, which takes two thirds of Chromium's processor time, or Chromium
 * where a distribution has no such package.
 */
export function installBrowser() {
  if (process.platform !== "linux" || process.getuid?.() !== 0 || process.env.CHROME_PATH) return;
  if (isProgram(HEADLESS_SHELL) || install("chromium-headless-shell")) return;
  if (!PLACES.some(isProgram)) install("chromium");
}

function install(name) {
  console.log(`Installing ${name} (apt-get)`);
  const command = `apt-get update -qq && apt-get install -y -qq --no-install-recommends ${name}`;
  return spawnSync(command, { shell: true, stdio: ["ignore", "ignore", "inherit"] }).status === 0;
}

function isProgram(file) {
  if (!file) return false;
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
