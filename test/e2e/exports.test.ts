import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { exportsOf, modules, sourceOf } from "../helpers/measure/exported-names.ts";

const files = Object.values(manifest.exports).filter((target) => typeof target === "string");
const guides = ["README.md", ...readdirSync("docs", { recursive: true, encoding: "utf8" })]
  .filter((path) => path.endsWith(".md") && !path.startsWith("decisions"))
  .map((path) => readFileSync(path === "README.md" ? path : join("docs", path), "utf8"))
  .join("\n");

// Their types are resolved as consumers do in a release run (`test/release`).
describe.each(modules)("the export %s", (subpath) => {
  it("keeps its names", async () => {
    const built = (await import(subpath.replace(".", manifest.name))) as object;
    expect(Object.keys(built).toSorted()).toMatchSnapshot();
  });

  it("describes each name, for its page of the reference", () => {
    const names = exportsOf(sourceOf(subpath));
    const described = new Set(names.filter(({ comment }) => comment).map(({ name }) => name));
    expect(names.map(({ name }) => name).filter((name) => !described.has(name))).toEqual([]);
  });

  it("has each function, class and constant on a page of the documentation", () => {
    const values = exportsOf(sourceOf(subpath)).filter(({ isType }) => !isType);
    expect(
      values.map(({ name }) => name).filter((name) => !new RegExp(`\\b${name}\\b`).test(guides)),
    ).toEqual([]);
  });
});

it.each(files)("the file %s is there", (file) => {
  expect(existsSync(file)).toBe(true);
});

it("install commands in the source name the pinned version of a peer", () => {
  const peers: Record<string, string> = manifest.peerDependencies;
  const sources = readdirSync("src", { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"))
    .map((path) => readFileSync(join("src", path), "utf8"));
  const commands = sources.flatMap((source) => [
    ...source.matchAll(/npm install (@?[\w/-]+)(?:@([\w.]+))?/g),
  ]);
  expect(commands.length).toBeGreaterThan(4);
  const wrong = commands.filter(([, name = "", version]) => {
    const range = peers[name] ?? "";
    return /^\d/.test(range) && version !== range;
  });
  expect(wrong.map(([text]) => text)).toEqual([]);
});
