import type { ThreadStore } from "../../storage/index.ts";
import type { LiveRules } from "../consent/consent-rules.ts";
import type { DriveOptions } from "../run/drive.ts";
import { createRunAgent, type RunAgent, type RunPlace, type RunProject } from "./agent.ts";
import { isolationNotice } from "./isolation.ts";
import type { RunServers } from "./mcp-servers.ts";
import { OFFLINE, type modelFor } from "./model.ts";
import type { Prices } from "./prices.ts";
import type { RunSettings } from "./settings.ts";

/** How a thread is to be run. Without a model: whatever the environment says. */
export type WantedSettings = Omit<RunSettings, "model"> & { model?: string | undefined };

/** Where an agent finds what its settings name. */
export interface ReadyOptions {
  saver: ThreadStore;
  /** Finds the model by the name in a thread's settings. */
  modelOf: (name: string | undefined) => ReturnType<typeof modelFor>;
  /** What the user and the project that a thread works on have to say. Default: nothing. */
  projectOf?: ((settings: Pick<RunSettings, "dir" | "project">) => Promise<RunProject>) | undefined;
  /** Finds the MCP servers that a thread's settings name. */
  servers?: Pick<RunServers, "of"> | undefined;
  /** Where the offline model works that was given no directory: it knows nothing else. */
  offlineDir?: string | undefined;
  live?: LiveRules | undefined;
  place?: RunPlace | undefined;
}

/** An agent that is ready for one run. */
export interface ReadyAgent {
  agent: RunAgent;
  model: DriveOptions["model"];
  /** The working directory, where there is one. */
  dir?: string;
  /** What a person should know before it begins. */
  notice?: string;
  /** How the thread is run, where that is kept in it. */
  settings?: RunSettings;
  /** What its model costs, where that is known. */
  prices?: Prices;
}

/** Makes the agent that settings describe, for one run. */
export async function readyAgent(
  wanted: WantedSettings,
  { saver, modelOf, projectOf, servers, offlineDir, live, place }: ReadyOptions,
): Promise<ReadyAgent & { settings: RunSettings }> {
  const model = await modelOf(wanted.model);
  const dir = wanted.dir ?? (model.name === OFFLINE ? offlineDir : undefined);
  const settings = { ...wanted, model: model.name, ...(dir !== undefined && { dir }) };
  const project = await projectOf?.(settings);
  const notices = [isolationNotice(settings, project?.config), model.isFallback ? FALLBACK : undefined];
  const notice = notices.filter((line) => line !== undefined).join(" ");
  const agent = createRunAgent({
    settings,
    model: model.model,
    checkpointer: saver,
    project,
    mcp: await servers?.of(settings, project),
    live,
    place,
  });
  return { agent, model, settings, ...(dir !== undefined && { dir }), ...(notice !== "" && { notice }) };
}

const FALLBACK =
  'No model is configured, so "offline" is used: it can only survey a directory. Set HOLDFAST_MODEL for a real one.';
