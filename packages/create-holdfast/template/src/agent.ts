import { createDeepAgent, type DeepAgentOptions } from "holdfast";
import { tool } from "langchain";
import { z } from "zod";

/** A tool of your own. Language models are bad at this; code is not. */
export const weekday = tool(
  ({ date }) => new Intl.DateTimeFormat("en", { weekday: "long", timeZone: "UTC" }).format(new Date(date)),
  {
    name: "weekday",
    description: "The day of the week of a date.",
    schema: z.object({ date: z.iso.date() }),
  },
);

/** The agent: a plan, files in its state, sub-agents, and the tool. */
export function createMyAgent(options: Pick<DeepAgentOptions, "model" | "checkpointer">) {
  return createDeepAgent({
    ...options,
    tools: [weekday],
    systemPrompt: "You plan events. Look up every weekday; never guess one.",
  });
}
