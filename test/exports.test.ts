import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import manifest from "../package.json" with { type: "json" };

const { "./package.json": _, ...subpaths } = manifest.exports;

describe.each(Object.entries(subpaths))("the export %s", (subpath, { types }) => {
  it("keeps its names", async () => {
    const built = (await import(subpath.replace(".", manifest.name))) as object;
    expect(Object.keys(built).toSorted()).toMatchSnapshot();
  });

  it("has its types", () => {
    expect(existsSync(types), types).toBe(true);
  });
});
