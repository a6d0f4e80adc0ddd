// The research agent as a graph for LangGraph's server; langgraph.json names it.
import { createResearchAgent, researchModel } from "./agent.ts";

const { model } = await researchModel(process.env);

export const graph = createResearchAgent({ model }).graph;
