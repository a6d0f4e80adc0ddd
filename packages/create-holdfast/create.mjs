#!/usr/bin/env node
// `npm create holdfast my-agent`: copies the template into a new or empty folder, and says what to do next.
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const USAGE = "npm create holdfast <folder> [-- --holdfast <version or tarball>]";

try {
  create();
} catch (error) {
  console.error(`create-holdfast: ${error.message.split("\n", 1)[0]}`);
  process.exitCode = 1;
}

function create() {
  const options = { holdfast: { type: "string" }, help: { type: "boolean", short: "h" } };
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  if (values.help) return console.log(USAGE);
  const [name, ...others] = positionals;
  if (name === undefined || others.length > 0) throw new Error(`Name one folder: ${USAGE}`);
  const folder = resolve(name);
  if (existsSync(folder) && readdirSync(folder).length > 0) {
    throw new Error(`${folder} is not empty. Name a new folder: ${USAGE}`);
  }
  const isFile = values.holdfast !== undefined && /[\\/]|\.(?:tgz|tar|tar\.gz)$/.test(values.holdfast);
  if (isFile && !existsSync(values.holdfast)) throw new Error(`There is no file ${String(values.holdfast)}.`);
  cpSync(fileURLToPath(new URL("template", import.meta.url)), folder, { recursive: true });
  // npm packs no file of the right name.
  renameSync(join(folder, "_gitignore"), join(folder, ".gitignore"));
  const path = join(folder, "package.json");
  const manifest = JSON.parse(readFileSync(path, "utf8"));
  manifest.name =
    basename(folder)
      .toLowerCase()
      .replaceAll(/[^a-z0-9._-]+/g, "-")
      .replace(/^[._-]+/, "") || "agent";
  if (values.holdfast !== undefined) {
    manifest.dependencies.holdfast = existsSync(values.holdfast)
      ? `file:${resolve(values.holdfast)}`
      : values.holdfast;
  }
  writeFileSync(path, `${JSON.stringify(manifest, null, 2)}\n`);
  console.log(
    `Made ${folder}. Next:\n\n  cd ${/[^\w./\\~:@-]/.test(name) ? JSON.stringify(name) : name}\n  npm install\n  npm test\n\nREADME.md says how to give it a model.`,
  );
}
