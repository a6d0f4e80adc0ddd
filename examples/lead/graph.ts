// The lead agent as a graph for LangGraph's server; langgraph.json names it. The server calls it with the configuration
// of each run, so every request says for itself whether it wants a plan: { is_plan_mode: true }.
import { chooseModel, HarnessError, leadAgentGraph } from "holdfast";
import { OfflineModel } from "holdfast/models";

const model = await chooseModel().then(
  (chosen) => chosen.model,
  (error: unknown) => {
    if (HarnessError.from(error)?.code !== "no-model") throw error;
    // It says what to set.
    return new OfflineModel();
  },
);

export const graph = leadAgentGraph({ model, summarization: true });
