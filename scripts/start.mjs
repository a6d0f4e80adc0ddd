// Builds what is missing or old, then runs the command line: `npm start` plays the demo on a scratch project,
// `npm start -- "task"` works on a task of yours in this repository. `npm start -- doctor` is any other command, and
// `npm start -- --continue` a session: all that `holdfast` takes, but for a task in place of the command.
import { execSync, spawnSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";

const modified = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
const sources = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((file) => /(?<!\.test)\.ts$/.test(file))
  .map((file) => modified(`src/${file}`));

if (modified("dist/surfaces/cli/main.js") < Math.max(...sources, modified("package-lock.json"))) {
  console.error("Building (npm run build)");
  execSync("node scripts/build.mjs --no-types", { stdio: ["ignore", 2, 2] });
}
const args = process.argv.slice(2);
// A single word is a command: a typo must not become a task that costs money. A task has several.
const isCommand = /^(?:[a-z]+$|-)/.test(args[0] ?? "");
const isDemo = args.length === 0;
const command = isDemo ? ["demo", "--yes"] : isCommand ? args : ["run", "--dir", ".", ...args];
// Ctrl-C is for the run to handle; this process waits for it.
process.on("SIGINT", () => {});
const env = { ...process.env, HOLDFAST_COMMAND: "npm start --" };
const started = spawnSync(process.execPath, ["dist/surfaces/cli/main.js", ...command], {
  // The demo asks nobody: without a command line of its own, it is one run that anybody can watch.
  stdio: [isDemo ? "ignore" : "inherit", "inherit", "inherit"],
  env,
});
process.exitCode = started.status ?? 1;
