// Prints the part of the changelog that is about one version: `node scripts/changes-of.mjs v0.1.0`.
import { readFileSync } from "node:fs";

const version = (process.argv[2] ?? "").replace(/^v/, "");
const parts = readFileSync("CHANGELOG.md", "utf8").split(/^## /m);
const part = parts.find(
  (text) =>
    text.startsWith(`[${version}]`) || text.startsWith(`${version} `) || text.startsWith(`${version}\n`),
);
if (version === "" || part === undefined) {
  console.error(`CHANGELOG.md has no part about ${version || "a version: name one, such as v0.1.0"}.`);
  process.exit(1);
}
console.log(part.slice(part.indexOf("\n")).trim());
