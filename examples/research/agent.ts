import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import {
  chooseModel,
  createDeepAgent,
  HarnessError,
  type ChosenModel,
  type DeepAgentOptions,
} from "holdfast";
import { webTools } from "holdfast/web";
import { LIBRARY } from "./library.ts";
import { OfflineModel } from "./offline.ts";
import { CRITIQUE_PROMPT, LEAD_PROMPT, RESEARCHER_PROMPT } from "./research.prompt.ts";
import { searchTool } from "./search.ts";

type Environment = Record<string, string | undefined>;

export interface ResearchOptions extends Pick<DeepAgentOptions, "checkpointer" | "store"> {
  model: BaseChatModel;
  /** Where `TAVILY_API_KEY` is looked up. Default `process.env`. */
  env?: Environment;
  /** The origin of a server on this machine that the documents are pages of. */
  pages?: string;
}

/** A research lead with two kinds of helpers. */
export function createResearchAgent({ model, env = process.env, pages, ...persistence }: ResearchOptions) {
  const agent = createDeepAgent({
    ...persistence,
    model,
    name: "research",
    systemPrompt: LEAD_PROMPT,
    mcp: LIBRARY,
    subagents: [
      {
        name: "researcher",
        description: "looks into one part of the question and returns quotations with their sources",
        systemPrompt: RESEARCHER_PROMPT,
        tools: [
          searchTool(env, { pages }),
          ...webTools({ search: false, ...(pages !== undefined && { allow: ["*", pages] }) }),
        ],
        plan: false,
      },
      {
        name: "critique",
        description: "reviews a report against the findings and returns a list of points",
        systemPrompt: CRITIQUE_PROMPT,
        plan: false,
        mcp: { only: ["mcp__library__list_directory"] },
      },
    ],
  });
  return agent.withConfig({ recursionLimit: 200 });
}

/** The model that the environment names; the offline model, with a `notice`, where it names none. */
export async function researchModel(env: Environment): Promise<ChosenModel & { notice?: string }> {
  try {
    return await chooseModel({ env });
  } catch (error) {
    if (HarnessError.from(error)?.code !== "no-model") throw error;
    const notice =
      "No model is configured: the offline model plays its part. Set HOLDFAST_MODEL, such as ollama:qwen3.";
    return { model: new OfflineModel(), name: "offline", source: "default", notice };
  }
}
