// AG-UI, which CopilotKit speaks, by its adapter for LangGraph's protocol.
import type { RunAgentParameters } from "@ag-ui/client";
import { LangGraphAgent } from "@ag-ui/langgraph";
import type { Chat, Seen } from "./chat.ts";

export function connect(deploymentUrl: string, langsmithApiKey: string): Chat {
  const agent = new LangGraphAgent({
    deploymentUrl,
    langsmithApiKey,
    graphId: "tide",
    emitInterruptOutcome: true,
  });
  const run = async (parameters: RunAgentParameters): Promise<Seen> => {
    const seen: Seen = { text: "", results: [] };
    const names = new Map<string, string>();
    await agent.runAgent(parameters, {
      onTextMessageContentEvent: ({ event }) => void (seen.text += event.delta),
      onToolCallStartEvent: ({ event }) => void names.set(event.toolCallId, event.toolCallName),
      onToolCallResultEvent: ({ event }) => void seen.results.push(names.get(event.toolCallId)!),
      onStateSnapshotEvent: ({ event }) => {
        const todos = (event.snapshot.todos ?? []) as { status: string }[];
        const completed = todos.filter(({ status }) => status === "completed").length;
        if (todos.length > 0) seen.plan = `${completed}/${todos.length}`;
      },
    });
    const [asked] = agent.pendingInterrupts;
    return asked ? { ...seen, question: asked.metadata!.langgraph.raw.actionRequests[0].name } : seen;
  };
  return {
    send: (content) => {
      agent.addMessage({ id: crypto.randomUUID(), role: "user", content });
      return run({});
    },
    approve: () => {
      const payload = { decisions: [{ type: "approve" }] };
      const resume = agent.pendingInterrupts.map(({ id }) => ({
        interruptId: id,
        status: "resolved" as const,
        payload,
      }));
      return run({ resume });
    },
    stop: async () => agent.abortRun(),
  };
}
