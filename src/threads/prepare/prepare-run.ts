import type { SubagentSpec } from "../../deep/index.ts";
import { HarnessError } from "../../errors.ts";
import { withEffort, type ChosenModel } from "../../models/index.ts";
import type { ThreadStore } from "../../storage/index.ts";
import type { LiveRules } from "../consent/index.ts";
import type { Prices } from "../view/index.ts";
import { createRunAgent, type RunAgent, type RunPlace, type RunProject } from "./agent.ts";
import { withPricedBudget } from "./budget.ts";
import { isolationNotice } from "./isolation.ts";
import type { RunServers } from "./mcp-servers.ts";
import { OFFLINE, type modelFor } from "./model.ts";
import type { RunSettings } from "./settings.ts";

/** The settings of a run. Default model: that of the environment. */
export type WantedSettings = Omit<RunSettings, "model"> & { model?: string };

export interface PrepareOptions {
  saver: ThreadStore;
  /** Finds the model by the name in the settings. */
  modelOf: (name: string | undefined) => ReturnType<typeof modelFor>;
  /** Finds the prices of a model. Default: they are unknown. */
  pricesOf?: (model: string, project?: RunProject) => Prices | undefined;
  /** Reads the files of the user and of the project that a thread works on. Default: none. */
  projectOf?: (settings: Pick<RunSettings, "dir" | "project">) => Promise<RunProject>;
  /** Finds the MCP servers that the settings name. */
  servers?: Pick<RunServers, "of">;
  /** The directory of the offline model if the settings have none. */
  offlineDir?: string;
  /** Whether someone can answer questions. Default true. */
  canAsk?: boolean;
  /** The number of messages at which the conversation is summarized. Default: the model's window decides. */
  compactAt?: number;
  live?: LiveRules;
  place?: RunPlace;
}

/** An agent for one run, with facts that surfaces show. */
export interface PreparedRun {
  agent: RunAgent;
  model: Pick<ChosenModel, "name"> & Partial<ChosenModel>;
  dir?: string;
  /** A notice for the user before the run starts. */
  notice?: string;
  /** The settings that the thread keeps. */
  settings?: RunSettings;
  prices?: Prices;
}

/** Prepares a run from settings: model, prices, budget, project files, MCP servers, isolation. */
export async function prepareRun(
  wanted: WantedSettings,
  options: PrepareOptions,
): Promise<PreparedRun & { settings: RunSettings }> {
  const { saver, modelOf, pricesOf, projectOf, servers, offlineDir, canAsk, compactAt, live, place } =
    options;
  const model = await modelOf(wanted.model);
  const dir = wanted.dir ?? (model.name === OFFLINE ? offlineDir : undefined);
  const resolved = { ...wanted, model: model.name, ...(dir !== undefined && { dir }) };
  const project = await projectOf?.(resolved);
  const prices = pricesOf?.(model.name, project);
  const settings = withPricedBudget(resolved, prices);
  const roles = await withModels(project?.roles ?? [], modelOf);
  const effortNotes: string[] = [];
  const thinking = withEffort(model.model, wanted.effort ?? project?.config.effort, (note) =>
    effortNotes.push(`Effort: ${note}.`),
  );
  const notices = [
    isolationNotice(settings, project?.config),
    model.isFallback ? FALLBACK : undefined,
    ...roles.notes,
    ...effortNotes,
  ];
  const notice = notices.filter((line) => line !== undefined).join(" ");
  const agent = createRunAgent({
    settings,
    model: thinking,
    checkpointer: saver,
    project: project && { ...project, roles: roles.specs },
    mcp: await servers?.of(settings, project),
    canAsk,
    compactAt,
    live,
    place,
  });
  return {
    agent,
    model,
    settings,
    dir,
    notice: notice !== "" ? notice : undefined,
    prices,
  };
}

/** The notice where no model is configured. */
export const FALLBACK =
  'No model is configured, so "offline" is used: it can only survey a directory. See a task with holdfast demo. Set up a real one with holdfast login, or set HOLDFAST_MODEL.';

/** Roles with their models. If a model cannot be used, the role has the agent's model, and there is a note. */
async function withModels(roles: readonly SubagentSpec[], modelOf: PrepareOptions["modelOf"]) {
  const specs: SubagentSpec[] = [];
  const notes: string[] = [];
  for (const { model: name, ...role } of roles) {
    if (typeof name !== "string") specs.push({ ...role, model: name });
    else {
      const chosen = await modelOf(name).catch((error: unknown) => {
        notes.push(
          `The sub-agent ${role.name} has the agent's model: ${HarnessError.from(error)?.message ?? String(error)}`,
        );
        return undefined;
      });
      specs.push({ ...role, model: chosen?.model });
    }
  }
  return { specs, notes };
}
