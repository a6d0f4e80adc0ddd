import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import manifest from "../package.json" with { type: "json" };

const modules = Object.keys(manifest.exports).filter(
  (subpath) => typeof manifest.exports[subpath as keyof typeof manifest.exports] !== "string",
);
const files = Object.values(manifest.exports).filter((target) => typeof target === "string");

// Their types are resolved as consumers do in a release run (`test/release`).
describe.each(modules)("the export %s", (subpath) => {
  it("keeps its names", async () => {
    const built = (await import(subpath.replace(".", manifest.name))) as object;
    expect(Object.keys(built).toSorted()).toMatchSnapshot();
  });
});

it.each(files)("the file %s is there", (file) => {
  expect(existsSync(file)).toBe(true);
});
