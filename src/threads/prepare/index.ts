export {
  createRunAgent,
  ownTools,
  RUN_TOOLS,
  type RunAgent,
  type RunGraph,
  type RunPlace,
  type RunStreamOptions,
} from "./agent.ts";
export { readBudget, withPricedBudget } from "./budget.ts";
export { FORKS } from "./fork-note.ts";
export { isGraph, streamGraph } from "./graph-stream.ts";
export { hasIsolation, isolationNotice } from "./isolation.ts";
export { RunServers } from "./mcp-servers.ts";
export { modelFor, OFFLINE } from "./model.ts";
export {
  FALLBACK,
  type PreparedRun,
  type PrepareOptions,
  prepareRun,
  type WantedSettings,
} from "./prepare-run.ts";
export { leftOut, projectNotice, settledModel } from "./project.ts";
export {
  chosenMode,
  DEFAULT_MODES,
  DEFAULT_SETTINGS,
  modeOf,
  RUN_SETTINGS,
  type RunSettings,
} from "./settings.ts";
