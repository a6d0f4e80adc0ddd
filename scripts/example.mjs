// Runs an example by its number, `npm run example 01`; without a number, lists them.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";

const examples = readdirSync("examples")
  .filter((file) => /^\d\d-.*\.ts$/.test(file))
  .toSorted();
const [number, ...rest] = process.argv.slice(2);
const chosen = examples.find((file) => number && file.startsWith(`${number.padStart(2, "0")}-`));

if (chosen) {
  const command = ["--import", "tsx", `examples/${chosen}`, ...rest];
  process.exitCode = spawnSync(process.execPath, command, { stdio: "inherit" }).status ?? 1;
} else if (number) {
  console.error(`No example ${number}; there are ${examples.join(", ")}`);
  process.exitCode = 2;
} else {
  console.log(examples.join("\n"));
}
