import { HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { Command, interrupt } from "@langchain/langgraph";
import { createAgent, tool } from "langchain";
import { z } from "zod";
import { planMiddleware } from "../src/index.ts";
import { sqliteSaver, sqliteStore, type SqliteSaver } from "../src/storage/index.ts";
import { callTool, ScriptedModel, type Step } from "../src/testing/index.ts";

/** The threads of the store, and how each goes on: by an answer, or by another message. */
export const THREADS = ["finished", "waiting", "broken"] as const;

const ITEMS = Array.from({ length: 30 }, (_, at) => at * 10);

/** A thread store as a few runs leave it: one finished, one that waits for an answer, one that broke off; and items beside them. */
export async function fillStore(file: string): Promise<void> {
  const saver = await sqliteSaver(file);
  const rounds = Array.from({ length: 8 }, (_, at) => callTool("look", { at }));
  const plan = callTool("write_todos", { todos: ["read", "build", "test"] });
  const say = (id: string) => ({
    messages: [new HumanMessage({ id, content: `${id}: ${"do it. ".repeat(40)}` })],
  });
  await agentOf(saver, [plan, ...rounds, "finished"]).invoke(say("finished"), configOf("finished"));
  await agentOf(saver, [plan, ...rounds.slice(0, 4), callTool("ask")]).invoke(
    say("waiting"),
    configOf("waiting"),
  );
  await agentOf(saver, [plan, ...rounds.slice(0, 6), new Error("the power goes out")])
    .invoke(say("broken"), configOf("broken"))
    .catch(() => {});
  saver.close();
  const store = await sqliteStore(file);
  for (const at of ITEMS)
    await store.put(["shelf", String(at % 5)], `item ${at}`, { text: "kelp ".repeat(at) });
  await store.close();
}

/** Everything that can be read of the store and what comes of going on, as text that can be compared. */
export async function* contentsOf(file: string): AsyncGenerator<string> {
  const saver = await sqliteSaver(file);
  const store = await sqliteStore(file);
  try {
    yield JSON.stringify(await store.listNamespaces());
    yield JSON.stringify(await store.search(["shelf"], { limit: ITEMS.length }));
    for (const at of ITEMS) yield JSON.stringify(await store.get(["shelf", String(at % 5)], `item ${at}`));
    yield JSON.stringify(await saver.listThreads());
    for (const id of THREADS) {
      yield JSON.stringify(await saver.getThread(id));
      yield JSON.stringify(await saver.getTuple(configOf(id)));
      for await (const tuple of saver.list(configOf(id))) yield JSON.stringify(tuple);
    }
    for (const id of THREADS) {
      const agent = agentOf(saver, ["that is all", "that is all", "that is all"]);
      const input =
        id === "waiting"
          ? new Command({ resume: "blue" })
          : id === "broken"
            ? null
            : { messages: [new HumanMessage({ id: "more", content: "and now?" })] };
      await agent.invoke(input, configOf(id));
      const { values } = await agent.graph.getState(configOf(id));
      const { messages, todos } = values as { messages: BaseMessage[]; todos: { status: string }[] };
      yield JSON.stringify([messages.map(({ text }) => text), todos.map(({ status }) => status)]);
    }
    yield JSON.stringify((await saver.listThreads()).map(({ id, state, todos }) => [id, state, todos]));
  } finally {
    await store.close();
    saver.close();
  }
}

function agentOf(saver: SqliteSaver, steps: Step[]) {
  const ask = tool(() => String(interrupt("Which colour?")), {
    name: "ask",
    description: "ask",
    schema: z.object({}),
  });
  const look = tool(({ at }) => `What is at ${at}: ${`line ${at} `.repeat(100)}`, {
    name: "look",
    description: "look",
    schema: z.object({ at: z.number() }),
  });
  return createAgent({
    model: new ScriptedModel(steps),
    tools: [ask, look],
    middleware: [planMiddleware({ reminders: false })],
    checkpointer: saver,
  });
}

function configOf(id: string) {
  return { configurable: { thread_id: id }, recursionLimit: 200 };
}
