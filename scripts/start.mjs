// Builds what is missing or old, then runs the command line on this repository: `npm start` surveys it with the
// offline model, `npm start -- "task"` works on a task of yours.
import { execSync, spawnSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";

const modified = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
const sources = readdirSync("src", { recursive: true, encoding: "utf8" }).map((file) =>
  modified(`src/${file}`),
);

if (modified("dist/surfaces/cli/main.js") < Math.max(...sources, modified("package-lock.json"))) {
  console.log("Building (npm run build)");
  execSync("npm run --silent build", { stdio: "inherit" });
}
const COMMANDS = ["run", "resume", "threads", "show", "plan", "rm", "doctor", "completion"];
const args = process.argv.slice(2);
const task = args.length > 0 ? args : ["--model", "offline", "Survey this directory"];
const command = COMMANDS.includes(args[0]) ? args : ["run", "--dir", ".", ...task];
// Ctrl-C is for the run to handle; this process waits for it.
process.on("SIGINT", () => {});
const env = { ...process.env, HOLDFAST_COMMAND: "npm start --" };
const started = spawnSync(process.execPath, ["dist/surfaces/cli/main.js", ...command], {
  stdio: "inherit",
  env,
});
process.exitCode = started.status ?? 1;
