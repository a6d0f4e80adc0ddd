import { todoListMiddleware } from "langchain";
import { CLASSIC, type Agent, type System } from "./systems.ts";
import { SYSTEM_PROMPT, workTool } from "./task.ts";

/** What is used of the package. Its own types are absent where the peers are not installed. */
export interface DeepAgents {
  createDeepAgent: (options: object) => Agent;
}

const PACKAGE: string = "deepagents";

/** The package. Throws if it is not installed. */
export async function loadDeepagents(): Promise<DeepAgents> {
  return (await import(PACKAGE)) as DeepAgents;
}

/** `deepagents` with `todoListMiddleware()` switched on, over `deepagents` as it comes. Throws if not installed. */
export async function deepagentsSystems(): Promise<System[]> {
  const { createDeepAgent } = await loadDeepagents();
  const withMiddleware =
    (middleware: () => unknown[]): System["create"] =>
    ({ model, checkpointer }) =>
      createDeepAgent({
        model,
        tools: [workTool],
        systemPrompt: SYSTEM_PROMPT,
        middleware: middleware(),
        ...(checkpointer ? { checkpointer } : {}),
      });
  return [
    { name: PACKAGE, create: withMiddleware(() => []), floor: PACKAGE },
    ...(["own-turn", "beside"] as const).map((pace) => ({
      name: `deepagents + todoListMiddleware ${pace}`,
      plan: { dialect: CLASSIC, pace },
      create: withMiddleware(() => [todoListMiddleware()]),
      floor: PACKAGE,
      // At 100 items the lists it repeats fill its window and it summarizes: no longer the same work.
      maxSize: 50,
    })),
  ];
}
