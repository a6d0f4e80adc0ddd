// Installs the locked dependencies when they are missing or older than the lock file, and in CI what tests need besides.
import { execSync, spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { installBrowser } from "./browser.mjs";

const modified = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

if (modified("node_modules/.package-lock.json") < modified("package-lock.json")) {
  console.log("Installing dependencies (npm ci)");
  execSync("npm ci --include=dev --no-audit --no-fund", { stdio: "inherit" });
}

// The tests of isolated commands; elsewhere they run where it is installed.
const isMissing = () => spawnSync("bwrap", ["--version"], { stdio: "ignore" }).error !== undefined;
if (process.env.CI && process.platform === "linux" && process.getuid?.() === 0 && isMissing()) {
  console.log("Installing bubblewrap (apt-get)");
  execSync("apt-get update -qq && apt-get install -y -qq bubblewrap", {
    stdio: ["ignore", "ignore", "inherit"],
  });
}

// The tests of the page; elsewhere they run where there is a browser.
if (process.env.CI) installBrowser();
