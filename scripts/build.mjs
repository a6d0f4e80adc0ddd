// Builds `dist`, its parts side by side: the library, the command, the page, and the types unless `--no-types` is given;
// and `packages/plan/dist`, the planning core as a package of its own.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, posix } from "node:path";

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

/** The modules that a package exports, by their paths in its `dist`. */
const entriesOf = (folder) =>
  Object.values(require(`../${folder}/package.json`).exports)
    .filter((target) => typeof target === "object")
    .map((target) => posix.relative("dist", target.default));

function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** CommonJS entries of a package: each requires its ES module, as Node does since 20.19. */
function writeCommonjsEntries(folder) {
  write(`${folder}/dist/commonjs/package.json`, `{ "type": "commonjs" }\n`);
  for (const path of entriesOf(folder)) {
    const module = posix.relative(posix.join("commonjs", dirname(path)), path);
    write(`${folder}/dist/commonjs/${path}`, `module.exports = require("${module}");\n`);
  }
}

/** The declarations that the entries of a package lead to, by their paths in `dist`. */
function declarationsOf(folder) {
  const texts = new Map();
  const reach = (path) => {
    if (texts.has(path)) return;
    const text = readFileSync(posix.join("dist", path), "utf8");
    texts.set(path, text.replace(/^\/\/# sourceMappingURL=.*\n?/m, ""));
    for (const [, name] of text.matchAll(/(?:from|import\()\s*"(\.[^"]+)\.[jt]s"/g))
      reach(posix.join(dirname(path), `${name}.d.ts`));
  };
  for (const path of entriesOf(folder)) reach(path.replace(/js$/, "d.ts"));
  return texts;
}

/** Copies declarations for CommonJS: TypeScript under `node16` lets nobody require those of ES modules. */
function finishTypes() {
  const ofPlan = declarationsOf("packages/plan");
  const all = declarationsOf(".");
  for (const [path, text] of all) write(`dist/commonjs/${path}`, text);
  for (const [path, text] of ofPlan) {
    write(`packages/plan/dist/${path}`, text);
    write(`packages/plan/dist/commonjs/${path}`, text);
  }
  // Nobody can import the others.
  for (const name of readdirSync("dist", { recursive: true, encoding: "utf8" })) {
    const path = name.replaceAll("\\", "/");
    const isOther = /\.d\.ts(\.map)?$/.test(path) && !all.has(path.replace(/\.map$/, ""));
    if (isOther && !path.startsWith("commonjs/")) rmSync(join("dist", path));
  }
}

const PACKAGES = [".", "packages/plan"];
const withTypes = !process.argv.includes("--no-types");
for (const folder of PACKAGES) rmSync(`${folder}/dist`, { recursive: true, force: true });
await Promise.all([
  withTypes && run("typescript", "-p", "tsconfig.build.json"),
  vite().then(() => vite("--mode", "command")),
  vite("web").then(() => vite("--mode", "plan")),
]);
for (const folder of PACKAGES) writeCommonjsEntries(folder);
if (withTypes && !process.exitCode) finishTypes();
