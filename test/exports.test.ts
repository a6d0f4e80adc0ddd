import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import manifest from "../package.json" with { type: "json" };

const modules = Object.entries(manifest.exports).flatMap(([subpath, target]) =>
  typeof target === "string" ? [] : [{ subpath, ...target }],
);
const files = Object.values(manifest.exports).filter((target) => typeof target === "string");

describe.each(modules.map(({ subpath, types }) => [subpath, types] as const))(
  "the export %s",
  (subpath, types) => {
    it("keeps its names", async () => {
      const built = (await import(subpath.replace(".", manifest.name))) as object;
      expect(Object.keys(built).toSorted()).toMatchSnapshot();
    });

    it("has its types", () => {
      expect(existsSync(types), types).toBe(true);
    });
  },
);

it.each(files)("the file %s is there", (file) => {
  expect(existsSync(file)).toBe(true);
});
