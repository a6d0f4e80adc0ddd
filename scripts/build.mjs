// Builds `dist`, its parts side by side: the library, the command, the page, and the types unless `--no-types` is given.
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

const entries = Object.values(require("../package.json").exports)
  .filter((target) => typeof target === "object")
  .map((target) => posix.relative("dist", target.default));

function writeCommonjs(path, text) {
  const target = posix.join("dist/commonjs", path);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text);
}

/** CommonJS entries: each requires its ES module, as Node does since 20.19. */
function writeCommonjsEntries() {
  writeCommonjs("package.json", `{ "type": "commonjs" }\n`);
  for (const path of entries) {
    const module = posix.relative(posix.join("commonjs", dirname(path)), path);
    writeCommonjs(path, `module.exports = require("${module}");\n`);
  }
}

/**
 * Keeps the declarations that an entry leads to, and copies them for CommonJS: TypeScript under `node16` lets nobody
 * require those of ES modules.
 */
function finishTypes() {
  const reached = new Set();
  const reach = (path) => {
    if (reached.has(path)) return;
    reached.add(path);
    const text = readFileSync(posix.join("dist", path), "utf8").replace(/^\/\/# sourceMappingURL=.*\n?/m, "");
    writeCommonjs(path, text);
    for (const [, name] of text.matchAll(/(?:from|import\()\s*"(\.[^"]+)\.[jt]s"/g))
      reach(posix.join(dirname(path), `${name}.d.ts`));
  };
  for (const path of entries) reach(path.replace(/js$/, "d.ts"));
  for (const name of readdirSync("dist", { recursive: true, encoding: "utf8" })) {
    const path = name.replaceAll("\\", "/");
    if (
      /\.d\.ts(\.map)?$/.test(path) &&
      !path.startsWith("commonjs/") &&
      !reached.has(path.replace(/\.map$/, ""))
    )
      rmSync(join("dist", path));
  }
}

const withTypes = !process.argv.includes("--no-types");
rmSync("dist", { recursive: true, force: true });
await Promise.all([
  withTypes && run("typescript", "-p", "tsconfig.build.json"),
  vite().then(() => vite("--mode", "command")),
  vite("web"),
]);
writeCommonjsEntries();
if (withTypes && !process.exitCode) finishTypes();
