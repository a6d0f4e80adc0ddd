import { readFileSync } from "node:fs";
import { defineConfig } from "vite";
import { licenses } from "./scripts/licenses.mjs";

const { bin, exports, optionalDependencies } = JSON.parse(readFileSync("package.json", "utf8")) as {
  bin: { holdfast: string };
  exports: Record<string, string | { default: string }>;
  optionalDependencies: Record<string, string>;
};

/** What is asked for by its place: by name of the package or as a process, or by tests and the benchmark. */
const LIBRARY = [
  ...Object.values(exports).flatMap((target) => (typeof target === "string" ? [] : target.default)),
  ...["files/disk/keeper/keeper-process", "threads/run/run-thread", "threads/traces/index"].map(inDist),
];

/** The command, and its function for tests that run several commands in one process. */
const COMMAND = [bin.holdfast, inDist("surfaces/cli/cli")];

/** Binaries, and what is shared with or chosen by the user's own installation. */
const NOT_IN_COMMAND = [
  ...Object.keys(optionalDependencies),
  "@anthropic-ai/sandbox-runtime",
  "@dbos-inc/dbos-sdk",
  "@opentelemetry/api",
  "pg",
];

/**
 * `vite build`: the library, in some hundred files in the place of as many as the source has; LangChain and the clients
 * of providers are the user's. `vite build --mode command`: the command with all that it needs inside, as Node takes a
 * millisecond for each of a thousand files that it would load otherwise (decision 30).
 */
export default defineConfig(({ mode }) => {
  const isCommand = mode === "command";
  const entries = isCommand ? COMMAND : LIBRARY;
  return {
    ...(isCommand && {
      ssr: { noExternal: true, external: NOT_IN_COMMAND },
      plugins: [licenses("surfaces/cli/LICENSES.txt")],
    }),
    build: {
      ssr: true,
      outDir: "dist",
      emptyOutDir: false,
      target: "node20",
      minify: false,
      // The package has its sources: maps lead there.
      sourcemap: !isCommand,
      rolldownOptions: {
        // The library's entries import statically what the command imports when it needs it.
        checks: { ineffectiveDynamicImport: false },
        preserveEntrySignatures: "strict",
        input: Object.fromEntries(entries.map((file) => [nameOf(file), `src/${nameOf(file)}.ts`])),
        output: {
          entryFileNames: "[name].js",
          sourcemapExcludeSources: true,
          chunkFileNames: `${isCommand ? "surfaces/cli/" : ""}chunks/[name]-[hash].js`,
        },
      },
    },
  };
});

function inDist(name: string): string {
  return `./dist/${name}.js`;
}

function nameOf(file: string): string {
  return file.replace(/^\.\/dist\//, "").replace(/\.js$/, "");
}
