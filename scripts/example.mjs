// Runs an example by its number or its folder, `npm run example 01`; without one, lists them.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";

const isFolder = (name) => existsSync(`examples/${name}/run.ts`);
const examples = readdirSync("examples")
  .filter((name) => /^\d\d-.*\.ts$/.test(name) || isFolder(name))
  .toSorted();
const [number, ...rest] = process.argv.slice(2);
const chosen = examples.find(
  (name) => number && (name === number || name.startsWith(`${number.padStart(2, "0")}-`)),
);

if (chosen) {
  // Ctrl-C is for the example to handle; this process waits for it.
  process.on("SIGINT", () => {});
  const file = isFolder(chosen) ? `${chosen}/run.ts` : chosen;
  const command = ["--import", "tsx", `examples/${file}`, ...rest];
  process.exitCode = spawnSync(process.execPath, command, { stdio: "inherit" }).status ?? 1;
} else if (number) {
  console.error(`No example ${number}; there are ${examples.join(", ")}`);
  process.exitCode = 2;
} else {
  for (const name of examples) {
    const code = readFileSync(`examples/${isFolder(name) ? `${name}/run.ts` : name}`, "utf8");
    console.log(`${name.padEnd(22)} ${/^\/\/ (.*)/m.exec(code)?.[1] ?? ""}`);
  }
}
