import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { HarnessError } from "../../../../errors.ts";
import type { ThreadStore } from "../../../../storage/index.ts";
import { openItems } from "../../../../storage/open/index.ts";
import type { HostedGraph } from "../../../../threads/host/index.ts";
import { hostedGraphs, type GraphSource } from "../../../server/index.ts";
import { refuse } from "../../wording.ts";

/** The exports to look for if the place names none. */
const NAMES = ["default", "graph", "agent"];

/** Opens the graphs that `--agent` names, for a run in a terminal. */
export async function openGraphs(
  agent: string,
  { saver, path, cwd }: { saver: ThreadStore; path: string; cwd: string },
): Promise<{ graphs: ReadonlyMap<string, HostedGraph>; close: () => Promise<void> }> {
  const sources = await loadGraphs(agent, cwd);
  const store = await openItems(path);
  return {
    graphs: hostedGraphs("--agent", sources, { checkpointer: saver, store }),
    close: async () => store.close(),
  };
}

/** Loads graphs from `agent.ts`, `agent.ts:name`, or a file such as `langgraph.json` that names several. */
export async function loadGraphs(place: string, cwd: string): Promise<Record<string, GraphSource>> {
  if (extname(place) !== ".json") {
    const [file, name] = splitPlace(place);
    return { [name ?? basename(file, extname(file))]: await loadGraph(resolve(cwd, file), name) };
  }
  const config = resolve(cwd, place);
  const loaded = Object.entries(await readConfig(config, place)).map(async ([graph, each]) => {
    const [file, name] = splitPlace(each);
    return [graph, await loadGraph(resolve(dirname(config), file), name)] as const;
  });
  return Object.fromEntries(await Promise.all(loaded));
}

/** Splits `file:name` at the last colon, unless it is the colon of a Windows drive. */
function splitPlace(place: string): [file: string, name: string | undefined] {
  const [, file = place, name] = /^(.+\.[cm]?[jt]sx?):(\w+)$/.exec(place) ?? [];
  return [file, name];
}

async function readConfig(path: string, place: string): Promise<Record<string, string>> {
  try {
    const { graphs } = JSON.parse(await readFile(path, "utf8")) as { graphs: Record<string, string> };
    if (Object.values(graphs).every((file) => typeof file === "string")) return graphs;
    throw new TypeError("graphs");
  } catch (error) {
    const isMissing = (error as { code?: unknown }).code === "ENOENT";
    const reason = isMissing ? "there is no such file" : 'it needs "graphs", with a file for each name';
    refuse(`${place}: ${reason}.`, error);
  }
}

async function loadGraph(file: string, name: string | undefined): Promise<GraphSource> {
  const exported = await importFile(file);
  const names = name === undefined ? NAMES : [name];
  const source = names.map((each) => exported[each]).find(isSource);
  if (source) return source;
  const expected = name === undefined ? "a graph as its default, graph or agent" : `a graph named ${name}`;
  const present = Object.keys(exported).toSorted().join(", ") || "nothing";
  refuse(`${file} does not export ${expected}; it exports ${present}.`);
}

function isSource(value: unknown): value is GraphSource {
  if (typeof value === "function") return true;
  const { graph, stream } = (typeof value === "object" && value !== null ? value : {}) as Record<
    string,
    unknown
  >;
  return typeof stream === "function" || (typeof graph === "object" && graph !== null);
}

/** Imports a module. Loads TypeScript with the project's `tsx` if Node does not support it. */
async function importFile(file: string): Promise<Record<string, unknown>> {
  if (!existsSync(file)) refuse(`${file}: there is no such file.`);
  const isTyped = /\.[cm]?tsx?$/.test(file);
  const { typescript } = process.features as { typescript?: string | false };
  if (isTyped && !typescript) await useTsx(file);
  try {
    return (await import(/* @vite-ignore */ pathToFileURL(file).href)) as Record<string, unknown>;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    refuse(`${file} cannot be loaded: ${message}`, error);
  }
}

/** Registers the `tsx` of a file's project in this process. */
async function useTsx(file: string): Promise<void> {
  let hooks: string;
  try {
    hooks = createRequire(file).resolve("tsx/esm");
  } catch (error) {
    throw new HarnessError(
      "missing-package",
      `${file} is TypeScript, which Node ${process.versions.node} does not run: install tsx in its project (npm i -D tsx), or use Node 22.18 or newer.`,
      { cause: error },
    );
  }
  await import(/* @vite-ignore */ pathToFileURL(hooks).href);
}
