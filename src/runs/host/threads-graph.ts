import { shortened } from "../../middleware/shortened.ts";
import type { ThreadStore } from "../../storage/index.ts";
import { createRunAgent, type RunAgent, type RunProject } from "../agent.ts";
import { isolationNotice } from "../isolation.ts";
import { OFFLINE, type modelFor } from "../model.ts";
import type { RunServers } from "../servers.ts";
import type { RunSettings } from "../settings.ts";
import { knownSettings } from "../thread-settings.ts";
import type { HostedGraph } from "./graphs.ts";

export interface ThreadsGraphOptions {
  saver: ThreadStore;
  /** How a new thread is run. Without a model: whatever the environment says. */
  defaults: Omit<RunSettings, "model"> & { model?: string | undefined };
  /** Where the offline model works, which knows nothing but directories. */
  cwd: string;
  /** Finds the model by the name in a thread's settings. */
  modelOf: (name: string | undefined) => ReturnType<typeof modelFor>;
  /** What the user and the project that a thread works on have to say. Default: nothing. */
  projectOf?: (settings: Pick<RunSettings, "dir" | "project">) => Promise<RunProject>;
  /** Finds the MCP servers that a thread's settings name. */
  servers?: Pick<RunServers, "of"> | undefined;
}

/** The state that clients may write: how a thread is run, and what it is called, are kept in it, too. */
const WRITABLE = ["messages", "files", "todos"];

/** The graph of Holdfast's own threads, as `holdfast run` makes them: each is run as its settings say. */
export function threadsGraph(options: ThreadsGraphOptions): HostedGraph {
  const { saver, defaults, cwd, modelOf, projectOf, servers } = options;
  const readers = new Map<string, RunAgent>();
  const settingsFor = async (thread: string | undefined) =>
    (thread === undefined ? undefined : await knownSettings(saver, thread)) ?? defaults;
  return {
    prepare: async (thread, { settings: given }) => {
      const known = await knownSettings(saver, thread);
      const wanted = known ?? { ...defaults, ...(given as Partial<RunSettings>) };
      const model = await modelOf(wanted.model);
      const dir = wanted.dir ?? (model.name === OFFLINE && !known ? cwd : undefined);
      const settings = { ...wanted, model: model.name, ...(dir !== undefined && { dir }) };
      const project = await projectOf?.(settings);
      const notice = [isolationNotice(settings, project?.config), model.isFallback ? FALLBACK : undefined]
        .filter((line) => line !== undefined)
        .join(" ");
      return {
        agent: createRunAgent({
          settings,
          model: model.model,
          checkpointer: saver,
          project,
          mcp: await servers?.of(settings, project),
        }),
        model,
        settings,
        ...(dir !== undefined && { dir }),
        ...(notice !== "" && { notice }),
      };
    },
    modelName: async (thread, { settings: given }) => {
      const { model } = (await knownSettings(saver, thread)) ?? {
        ...defaults,
        ...(given as Partial<RunSettings>),
      };
      return model;
    },
    reader: async (thread) => {
      // To build an agent takes longer than to read a thread, and the same settings make the same agent.
      const { model = "", ...rest } = await settingsFor(thread);
      const settings = { ...rest, model };
      const project = await projectOf?.(settings);
      const key = JSON.stringify([settings, project?.config.mode]);
      const reader = readers.get(key) ?? createRunAgent({ settings, checkpointer: saver, project });
      readers.set(key, reader);
      return reader;
    },
    isWritable: (channel) => WRITABLE.includes(channel),
    complete: async (input, { state, ready, task }) => {
      const { title, run } = state.values as { title?: string; run?: RunSettings };
      return {
        ...input,
        ...(run === undefined && { run: ready.settings }),
        ...(title === undefined && { title: shortened(task ?? "") }),
      };
    },
  };
}

const FALLBACK =
  'No model is configured, so "offline" is used: it can only survey a directory. Set HOLDFAST_MODEL for a real one.';
