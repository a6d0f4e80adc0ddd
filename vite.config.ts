import { readFileSync } from "node:fs";
import { defineConfig } from "vite";

const { bin, exports } = JSON.parse(readFileSync("package.json", "utf8")) as {
  bin: { holdfast: string };
  exports: Record<string, string | { default: string }>;
};

/** What is asked for by its place: by name of the package, as a command or a process, or by tests and the benchmark. */
const ENTRIES = [
  bin.holdfast,
  ...Object.values(exports).flatMap((target) => (typeof target === "string" ? [] : target.default)),
  ...["files/disk/keeper-process", "surfaces/cli/cli", "runs/conduct", "runs/drive", "runs/traces/index"].map(
    inDist,
  ),
];

/** The package, in some hundred files in the place of as many as the source has: Node takes a millisecond for each. */
export default defineConfig({
  build: {
    ssr: true,
    outDir: "dist",
    emptyOutDir: false,
    target: "node20",
    minify: false,
    rolldownOptions: {
      input: Object.fromEntries(ENTRIES.map((file) => [nameOf(file), `src/${nameOf(file)}.ts`])),
      output: { entryFileNames: "[name].js", chunkFileNames: "chunks/[name]-[hash].js" },
    },
  },
});

function inDist(name: string): string {
  return `./dist/${name}.js`;
}

function nameOf(file: string): string {
  return file.replace(/^\.\/dist\//, "").replace(/\.js$/, "");
}
