import { BaseMessage } from "@langchain/core/messages";
import { afterEach, expect, it, vi } from "vitest";
import { serve, type Served } from "../../../../test/helpers/page/graph-server.ts";
import { lookedAt } from "../../../../test/helpers/postgres/list-counter.ts";
import { createDeepAgent } from "../../../deep/index.ts";
import { ScriptedModel } from "../../../testing/index.ts";

const TURNS = 20;

let served: Served;
afterEach(async () => {
  vi.restoreAllMocks();
  await served.close();
});

it("a history writes each message once, and yields between checkpoints", async () => {
  const model = new ScriptedModel(Array.from({ length: TURNS }, (_, n) => `Answer ${n}`));
  served = await serve({ agent: createDeepAgent({ model }) });
  const { client, saver } = served;
  const { thread_id: thread } = await client.threads.create();
  for (let n = 0; n < TURNS; n++) {
    await client.runs.wait(thread, "agent", {
      input: { messages: [{ type: "human", content: `Say ${n}` }] },
    });
  }
  const seen = lookedAt(saver);
  const written = vi.spyOn(BaseMessage.prototype, "toDict");
  const history = await client.threads.getHistory<{ messages: { type: string; content: string }[] }>(thread);
  expect(seen).toMatchObject({ checkpoints: 10, turns: 10 });
  expect(written.mock.calls.length).toBeLessThanOrEqual(2 * TURNS);
  expect(history).toHaveLength(10);
  for (const state of history) {
    expect(state).toEqual(await client.threads.getState(thread, state.checkpoint.checkpoint_id!));
  }
});
