import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { bundleForBrowser, MOST_BYTES } from "../helpers/measure/bundle.ts";

const PEERS = ["langchain", "@langchain/*", "zod"];

/** Bytes, minified and on their way to the browser. */
const sizeOf = (code: string) => ({ minified: Buffer.byteLength(code), compressed: gzipSync(code).length });

describe("for browsers, without shims,", () => {
  it("planMiddleware adds one package to LangChain's, in at most 50 kB compressed", async () => {
    const entry = `export { planMiddleware } from "holdfast/middleware";`;
    const { code, packages, contained } = await bundleForBrowser(entry, PEERS);
    expect({ packages, contained }).toEqual({
      packages: ["@langchain/core", "@langchain/langgraph", "langchain", "zod"],
      contained: ["jsonrepair"],
    });
    const { minified, compressed } = sizeOf(code);
    expect(minified).toBeLessThanOrEqual(MOST_BYTES.core);
    expect(compressed).toBeLessThanOrEqual(50_000);
  });

  it("planMiddleware is bundled with LangChain's packages, too", async () => {
    const { packages, contained } = await bundleForBrowser(`export * from "holdfast/middleware";`);
    expect(packages).toEqual([]);
    expect(contained).toEqual(
      expect.arrayContaining(["@langchain/core", "@langchain/langgraph", "langchain"]),
    );
  });

  it("the engine adds the same package and no other, in at most 57 kB minified", async () => {
    const { code, packages, contained } = await bundleForBrowser(`export * from "holdfast/plan";`, PEERS);
    expect({ packages, contained }).toEqual({ packages: [], contained: ["jsonrepair"] });
    expect(sizeOf(code).minified).toBeLessThanOrEqual(MOST_BYTES.engine);
  });

  it("a package with Node built-ins is refused", async () => {
    await expect(bundleForBrowser(`export { diskBackend } from "holdfast/files";`, PEERS)).rejects.toThrow(
      "node:",
    );
  });
});
