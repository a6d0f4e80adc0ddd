import { existsSync } from "node:fs";
import { todoListMiddleware } from "langchain";
import { smallWindow, SYSTEM_PROMPT, type Agent, type System } from "./systems.ts";

/** What is used of the package. Its own types are absent where the peers are not installed. */
interface DeepAgents {
  createDeepAgent: (options: object) => Agent;
}

const PACKAGE: string = "deepagents";

/** `deepagents` with its plan switched on, if it is installed beside the benchmark; otherwise a note why not. */
export async function loadPeers(): Promise<{ systems: System[]; notes: string[] }> {
  const isDoubled = ["langchain", "@langchain/core", "@langchain/langgraph"].some((name) =>
    existsSync(new URL(`../node_modules/${name}`, import.meta.url)),
  );
  if (isDoubled) {
    return { systems: [], notes: ["deepagents is left out: bench/node_modules has its own langchain."] };
  }
  try {
    const { createDeepAgent } = (await import(PACKAGE)) as DeepAgents;
    return { systems: [deepagents(createDeepAgent)], notes: [] };
  } catch (error) {
    return { systems: [], notes: [`deepagents is left out: ${(error as Error).message.split("\n")[0]}`] };
  }
}

function deepagents(createDeepAgent: DeepAgents["createDeepAgent"]): System {
  return {
    name: "deepagents + todoListMiddleware",
    isOurs: false,
    hasPlan: true,
    create: ({ model, tools, summarizer }) =>
      createDeepAgent({
        model,
        tools,
        systemPrompt: SYSTEM_PROMPT,
        // LangChain's summarization takes the place of the package's own, which has the same name.
        middleware: [...smallWindow(summarizer), todoListMiddleware()],
      }),
  };
}
