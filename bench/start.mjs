// Installs the root's dependencies and the peers and builds the package where they are missing or old, then runs the
// benchmark. With a real model it needs neither the peers nor the package.
import { execSync, spawn } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";

const bench = fileURLToPath(new URL(".", import.meta.url));
const root = fileURLToPath(new URL("..", import.meta.url));
const modified = (file) => statSync(bench + file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

execSync("node scripts/install.mjs", { cwd: root, stdio: ["ignore", 2, 2] });
// A help text needs none of them.
const isBare = process.argv.includes("--live") || process.argv.includes("--help");
const isQuick = process.argv.includes("--quick");
if (!isBare && modified("node_modules/.package-lock.json") < modified("package-lock.json")) {
  install("Installing the peers (npm ci in bench)", "npm ci --no-audit --no-fund --ignore-scripts");
}
const compiled = "node_modules/better-sqlite3/build/Release/better_sqlite3.node";
if (!isBare && !isQuick && modified(compiled) === 0) {
  install("Getting or compiling a peer, which may take some minutes", "npm rebuild better-sqlite3");
}
const sources = readdirSync(`${root}src`, { recursive: true, encoding: "utf8" }).map((file) =>
  modified(`../src/${file}`),
);
if (!isBare && modified("../dist/index.js") < Math.max(...sources)) {
  console.error("Building the package");
  execSync("npm run build", { cwd: root, stdio: ["ignore", 2, 2] });
}
// Timed runs begin with a collection of garbage.
const command = ["--expose-gc", "--import", "tsx", `${bench}main.ts`, ...process.argv.slice(2)];
const child = spawn(process.execPath, command, { cwd: root, stdio: "inherit" });
child.on("exit", (code) => (process.exitCode = code ?? 1));
// What stops it is for the benchmark, which ends in its own time and says how to go on; Ctrl-C has reached it already.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill("SIGTERM"));

/** What cannot be installed is left out: the benchmark runs without it and says so. */
function install(text, script) {
  console.error(text);
  try {
    execSync(script, { cwd: bench, stdio: ["ignore", 2, 2] });
  } catch (error) {
    console.error(`The peers could not be installed: ${error.message}`);
  }
}
