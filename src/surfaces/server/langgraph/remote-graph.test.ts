import { HumanMessage } from "@langchain/core/messages";
import { Command, END, isGraphInterrupt, START, StateGraph, MessagesAnnotation } from "@langchain/langgraph";
import { RemoteGraph } from "@langchain/langgraph/remote";
import { afterEach, expect, it } from "vitest";
import { collected, serve, type Served } from "../../../../test/helpers/page/graph-server.ts";
import { createDeepAgent } from "../../../deep/index.ts";
import { callTool, ScriptedModel, type Step } from "../../../testing/index.ts";

let served: Served;
afterEach(() => served.close());

async function remote(steps: Step[], interruptOn: Record<string, boolean> = {}): Promise<RemoteGraph> {
  served = await serve({ agent: createDeepAgent({ model: new ScriptedModel(steps), interruptOn }) });
  return new RemoteGraph({ graphId: "agent", url: served.url, apiKey: served.token });
}

const ask = (words: string) => ({ messages: [{ type: "human", content: words }] });

it("a graph of ours is invoked, streamed and drawn from elsewhere", async () => {
  const graph = await remote(["One.", "Two."]);
  const { messages } = (await graph.invoke(ask("First"))) as { messages: { content: string }[] };
  expect(messages.map(({ content }) => content)).toEqual(["First", "One."]);
  const chunks = await collected(await graph.stream(ask("Second"), { streamMode: "values" }));
  expect((chunks.at(-1) as { messages: { content: string }[] }).messages.at(-1)?.content).toBe("Two.");
  const drawn = await graph.getGraphAsync();
  expect(Object.keys(drawn.nodes)).toContain("model_request");
  expect(await served.client.threads.count({})).toBe(0);
});

it("its threads are read, changed, gone back in and resumed from elsewhere", async () => {
  const write = callTool("write_file", { file_path: "/a.md", content: "a" });
  const graph = await remote([write, "Written.", "Again."], { write_file: true });
  const { thread_id } = await served.client.threads.create();
  const config = { configurable: { thread_id } };
  await graph.invoke(ask("Write"), config).catch((error: unknown) => {
    if (!isGraphInterrupt(error)) throw error;
  });
  const waiting = await graph.getState(config);
  expect(waiting.tasks[0]?.interrupts[0]?.value).toMatchObject({ type: "consent", name: "write_file" });
  await graph.invoke(new Command({ resume: { decisions: [{ type: "approve" }] } }), config);
  const done = await graph.getState(config);
  expect(done.values).toMatchObject({ files: { "/a.md": "a" } });
  expect(done.next).toEqual([]);
  const history = await collected(graph.getStateHistory(config, { limit: 2 }));
  expect(history).toHaveLength(2);
  const after = await graph.updateState(config, ask("By hand"), "model_request");
  expect(after.configurable).toMatchObject({ thread_id, checkpoint_id: expect.any(String) as string });
});

it("a remote graph is a node of another one", async () => {
  const agent = await remote(["From afar."]);
  const outer = new StateGraph(MessagesAnnotation)
    .addNode("agent", agent)
    .addEdge(START, "agent")
    .addEdge("agent", END)
    .compile();
  const { messages } = await outer.invoke({ messages: [new HumanMessage("Hello")] });
  expect(messages.at(-1)?.content).toBe("From afar.");
});
