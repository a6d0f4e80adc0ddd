// Builds `dist`, its parts side by side: the library, the command, the page, and the types unless `--no-types` is given.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const require = createRequire(import.meta.url);
const program = (name) => {
  const file = require.resolve(`${name}/package.json`);
  const { bin } = require(file);
  return join(dirname(file), typeof bin === "string" ? bin : bin[name === "typescript" ? "tsc" : name]);
};
const run = async (name, ...args) => {
  const child = spawn(process.execPath, [program(name), ...args], { stdio: "inherit" });
  const [code] = await once(child, "exit");
  if (code !== 0) process.exitCode = 1;
};
const vite = (...args) => run("vite", "build", ...args, "--logLevel", "warn");

rmSync("dist", { recursive: true, force: true });
await Promise.all([
  process.argv.includes("--no-types") || run("typescript", "-p", "tsconfig.build.json"),
  vite().then(() => vite("--mode", "command")),
  vite("web"),
]);
