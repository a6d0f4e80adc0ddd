// Installs the locked dependencies when they are missing or older than the lock file.
import { execSync } from "node:child_process";
import { statSync } from "node:fs";

const modified = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

if (modified("node_modules/.package-lock.json") < modified("package-lock.json")) {
  console.log("Installing dependencies (npm ci)");
  execSync("npm ci --include=dev --no-audit --no-fund", { stdio: "inherit" });
}
