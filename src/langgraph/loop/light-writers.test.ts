import { isBaseMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { createAgent, tool } from "langchain";
import { expect, it } from "vitest";
import { z } from "zod";
import { lightLoop } from "../../middleware/light-loop/index.ts";
import { callTool, ScriptedModel } from "../../testing/index.ts";

/** Ids of messages when tasks save them, before any reducer has seen them. */
class IdsInWrites extends MemorySaver {
  readonly ids: (string | undefined)[] = [];

  override putWrites(...args: Parameters<MemorySaver["putWrites"]>): Promise<void> {
    const messages = args[1].flatMap(([channel, value]) =>
      channel === "messages" ? (value as unknown[]) : [],
    );
    this.ids.push(...messages.filter((message) => isBaseMessage(message)).map(({ id }) => id));
    return super.putWrites(...args);
  }
}

it("a message gets its id before its task is saved, so the state keeps the same one", async () => {
  const work = tool(() => "done", { name: "work", description: "Works.", schema: z.object({}) });
  const saver = new IdsInWrites();
  const agent = lightLoop(
    createAgent({
      model: new ScriptedModel([
        callTool("work", {}),
        [callTool("work", {}), callTool("work", {})],
        "Finished.",
      ]),
      tools: [work],
      checkpointer: saver,
    }),
  );
  const { messages } = await agent.invoke({ messages: "Go." }, { configurable: { thread_id: "t" } });
  expect(saver.ids).toEqual(messages.slice(1).map(({ id }) => id));
});
