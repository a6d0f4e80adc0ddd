import { ToolMessage } from "@langchain/core/messages";
import type { DynamicStructuredTool } from "@langchain/core/tools";
import { Command } from "@langchain/langgraph";
import { z } from "zod";
import { filled } from "../../middleware/text/index.ts";
import { callId, checkedTool } from "../../middleware/tools/index.ts";
import { FIND_TOOLS_DESCRIPTION, NOTHING_FOUND } from "./find-tools.prompt.ts";

export const FIND_TOOLS = "find_tools";

const MAX_MATCHES = 5;

/** The search tool, which writes the names of its matches to the state, in `foundTools`. */
export function findTools(all: readonly DynamicStructuredTool[]): DynamicStructuredTool {
  const counts = new Map<string, number>();
  for (const { name } of all) {
    const server = name.split("__")[1] ?? name;
    counts.set(server, (counts.get(server) ?? 0) + 1);
  }
  const servers = [...counts].map(([server, count]) => `${server} (${count})`).join(", ");
  const description = filled(FIND_TOOLS_DESCRIPTION, { servers });
  const schema = z.object({ query: z.string().min(1) });
  const tool = checkedTool({ name: FIND_TOOLS, description, schema }, async ({ query }, runtime) => {
    const matches = ranked(all, query).slice(0, MAX_MATCHES);
    const lines = matches.map(({ name, description: text }) => `${name}: ${firstSentence(text)}`);
    const message = new ToolMessage({
      content: lines.join("\n") || NOTHING_FOUND,
      name: FIND_TOOLS,
      tool_call_id: callId(runtime),
    });
    return new Command({ update: { foundTools: matches.map(({ name }) => name), messages: [message] } });
  });
  tool.metadata = { annotations: { readOnlyHint: true } };
  return tool;
}

const firstSentence = (text: string): string => text.split(/(?<=\.)\s|\n/, 1)[0]!.slice(0, 120);

/** The tools that fit a query, best first: rare words count more, and words of a name more than those of a description. */
function ranked(all: readonly DynamicStructuredTool[], query: string): DynamicStructuredTool[] {
  const words = [...new Set(wordsOf(query))];
  const texts = all.map((tool) => {
    const name = wordsOf(tool.name);
    return { tool, name, text: [...name, ...wordsOf(tool.description)] };
  });
  const fits = (text: readonly string[], word: string): boolean =>
    text.some((one) => one.startsWith(stem(word)));
  const weights = words.map((word) => {
    const count = texts.filter(({ text }) => fits(text, word)).length;
    return Math.log(1 + texts.length / (1 + count));
  });
  return texts
    .map(({ tool, name, text }) => {
      const scores = words.map((word, at) =>
        fits(text, word) ? weights[at]! * (fits(name, word) ? 3 : 1) : 0,
      );
      return { tool, score: scores.reduce((sum, one) => sum + one, 0) };
    })
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .map(({ tool }) => tool);
}

/** The words of a text: `createIssue` and `create_issue` are two. */
function wordsOf(text: string): string[] {
  return (
    text
      .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}

/** The stem of a word: `issues` matches `issue`. */
const stem = (word: string): string => (word.length > 4 ? word.replace(/(?:e?s|ing|ed)$/, "") : word);
