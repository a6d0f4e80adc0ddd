// Installs the locked dependencies when they are missing or older than the lock file, and in CI what tests need besides.
import { execSync } from "node:child_process";
import { statSync } from "node:fs";
import { installBrowser } from "./browser.mjs";
import { installBubblewrap } from "./bubblewrap.mjs";

const modified = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

if (modified("node_modules/.package-lock.json") < modified("package-lock.json")) {
  console.log("Installing dependencies (npm ci)");
  execSync("npm ci --include=dev --no-audit --no-fund", { stdio: "inherit" });
}

// The tests of isolated commands and of the page; elsewhere they run where there is what they need.
if (process.env.CI) {
  installBubblewrap();
  installBrowser();
}
