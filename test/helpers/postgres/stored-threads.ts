import { HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { createAgent } from "langchain";
import { sqliteSaver, type ThreadStore } from "../../../src/storage/index.ts";
import { ScriptedModel } from "../../../src/testing/index.ts";

/** Makes a thread store with the threads `a` and `b`, each of two messages and their answers. */
export async function writeTwoThreads(file: string): Promise<void> {
  const saver = await sqliteSaver(file);
  for (const id of ["a", "b"]) for (const text of ["first", "second"]) await say(saver, id, text);
  saver.close();
}

export async function say(saver: ThreadStore, id: string, text: string): Promise<void> {
  const agent = createAgent({ model: new ScriptedModel([`answer to ${text}`]), checkpointer: saver });
  await agent.invoke({ messages: [new HumanMessage(text)] }, thread(id));
}

export async function textsOf(saver: ThreadStore, id: string): Promise<string[]> {
  const tuple = await saver.getTuple(thread(id));
  return (tuple!.checkpoint.channel_values["messages"] as BaseMessage[]).map(({ text }) => text);
}

const thread = (id: string) => ({ configurable: { thread_id: id } });
