import { readFileSync } from "node:fs";
import { defineConfig } from "vite";
import { licenses } from "./scripts/licenses.mjs";

interface Manifest {
  exports: Record<string, string | { default: string }>;
  optionalDependencies: Record<string, string>;
}

const { exports, optionalDependencies } = manifestIn(".");

/** What is asked for by its place: by name of the package or as a process, or by tests and the benchmark. */
const LIBRARY = [
  ...modulesOf(exports),
  ...["files/disk/keeper/keeper-process", "threads/run/run-thread", "threads/traces/index"].map(inDist),
];

/** The command, and its function for tests that run several commands in one process. */
const COMMAND = ["main", "cli"].map((name) => inDist(`surfaces/cli/${name}`));

/** Binaries, and what is shared with or chosen by the user's own installation. */
const NOT_IN_COMMAND = [
  ...Object.keys(optionalDependencies),
  "@anthropic-ai/sandbox-runtime",
  "@dbos-inc/dbos-sdk",
  "@opentelemetry/api",
  "pg",
];

/** What is built: the files of `dist`, and the folder of the package that they are for. */
const BUILDS: Record<string, { files: string[]; folder: string }> = {
  production: { files: LIBRARY, folder: "." },
  command: { files: COMMAND, folder: "." },
  plan: { files: modulesOf(manifestIn("packages/plan").exports), folder: "packages/plan" },
};

/**
 * `vite build`: the library, in some hundred files in the place of as many as the source has; LangChain and the clients
 * of providers are the user's. `--mode command`: the command with all that it needs inside, as Node takes a millisecond
 * for each of a thousand files that it would load otherwise (decision 30). `--mode plan`: the package `@holdfast/plan`.
 */
export default defineConfig(({ mode }) => {
  const { files, folder } = BUILDS[mode]!;
  const isCommand = mode === "command";
  return {
    ...(isCommand && {
      ssr: { noExternal: true, external: NOT_IN_COMMAND },
      plugins: [licenses("surfaces/cli/LICENSES.txt")],
    }),
    build: {
      ssr: true,
      outDir: `${folder}/dist`,
      emptyOutDir: false,
      target: "node20",
      minify: false,
      sourcemap: !isCommand,
      rolldownOptions: {
        // The library's entries import statically what the command imports when it needs it.
        checks: { ineffectiveDynamicImport: false },
        preserveEntrySignatures: "strict",
        input: Object.fromEntries(files.map((file) => [nameOf(file), `src/${nameOf(file)}.ts`])),
        output: {
          entryFileNames: "[name].js",
          // The package `holdfast` has its sources: maps lead there.
          sourcemapExcludeSources: folder === ".",
          chunkFileNames: `${isCommand ? "surfaces/cli/" : ""}chunks/[name]-[hash].js`,
        },
      },
    },
  };
});

function manifestIn(folder: string): Manifest {
  return JSON.parse(readFileSync(`${folder}/package.json`, "utf8")) as Manifest;
}

/** The modules that a package exports. */
function modulesOf(all: Manifest["exports"]): string[] {
  return Object.values(all).flatMap((target) => (typeof target === "string" ? [] : target.default));
}

function inDist(name: string): string {
  return `./dist/${name}.js`;
}

function nameOf(file: string): string {
  return file.replace(/^\.\/dist\//, "").replace(/\.js$/, "");
}
