// Builds what is missing or old, then runs the command line on this repository: `npm start` surveys it with the
// offline model, `npm start -- "task"` works on a task of yours, `npm start -- doctor` is any other command.
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
const survey = ["--no-project", "--model", "offline", "Survey this directory"];
// A single word is a command: a typo must not become a task that costs money. A task has several.
const isCommand = /^(?:[a-z]+|--help|-h|--version|-v)$/.test(args[0] ?? "");
const command = isCommand ? args : ["run", "--dir", ".", ...(args.length > 0 ? args : survey)];
// Ctrl-C is for the run to handle; this process waits for it.
process.on("SIGINT", () => {});
const env = { ...process.env, HOLDFAST_COMMAND: "npm start --" };
const started = spawnSync(process.execPath, ["dist/surfaces/cli/main.js", ...command], {
  stdio: "inherit",
  env,
});
process.exitCode = started.status ?? 1;
