// Finds a browser for the tests of the page, and installs one in CI where there is none.
import { execSync } from "node:child_process";
import { accessSync, constants } from "node:fs";

const PLACES = [
  process.env.CHROME_PATH,
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
  const found = PLACES.find((place) => place && isProgram(place));
  if (!found && process.env.CI)
    throw new Error("The tests of the page need Chromium: install it, or set CHROME_PATH to it.");
  return found;
}

/** Sees to it that there is a browser, where that is possible. */
export function installBrowser() {
  if (
    process.platform !== "linux" ||
    process.getuid?.() !== 0 ||
    PLACES.some((place) => place && isProgram(place))
  )
    return;
  console.log("Installing chromium (apt-get)");
  execSync("apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium", {
    stdio: ["ignore", "ignore", "inherit"],
  });
}

function isProgram(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
