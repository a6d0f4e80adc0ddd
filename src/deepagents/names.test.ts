import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import * as names from "./index.ts";

const page = readFileSync(new URL("../../docs/coming-from.md", import.meta.url), "utf8");
const source = readFileSync(new URL("index.ts", import.meta.url), "utf8");

/** Names that `deepagents` 1.14.1 does not export. */
const OURS = {
  values: [] as string[],
  types: ["AnyBackend", "FilesystemBackendOptions", "SummarizationMiddlewareOptions"],
};

/** The missing names that the page lists. */
function missing(kind: "values" | "types"): string[] {
  const [, list = ""] = new RegExp(`^\\| ${kind} \\| (.*)$`, "m").exec(page) ?? [];
  return [...list.matchAll(/`(\w+)`/g)].map(([, name]) => name!);
}

/** The types that the entry exports. */
function exportedTypes(): string[] {
  const lists = [...source.matchAll(/^export (type )?\{([^}]*)\}/gm)];
  const aliases = [...source.matchAll(/^export type (\w+) =/gm)].map(([, name]) => name!);
  const listed = lists.flatMap(([, isTypes, list = ""]) =>
    list
      .split(",")
      .map((part) => part.trim())
      .filter((part) => part !== "" && (isTypes !== undefined || part.startsWith("type ")))
      .map((part) =>
        part
          .replace(/^type /, "")
          .split(" as ")
          .at(-1)!,
      ),
  );
  return [...listed, ...aliases];
}

it("the DeepAgents page counts the available names and lists all missing names", () => {
  const [, values, types] = /(\d+) of the 56 values and (\d+) of the 88 types/.exec(page) ?? [];
  const ownValues = Object.keys(names).filter((name) => !OURS.values.includes(name));
  const ownTypes = exportedTypes().filter((name) => !OURS.types.includes(name));
  expect(ownValues).toHaveLength(Number(values));
  expect(ownTypes).toHaveLength(Number(types));
  expect(ownValues.length + missing("values").length).toBe(56);
  expect(ownTypes.length + missing("types").length).toBe(88);
  expect(missing("values").filter((name) => ownValues.includes(name))).toEqual([]);
  expect(missing("types").filter((name) => ownTypes.includes(name))).toEqual([]);
});
