import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@langchain/langgraph-sdk";
import { expect, it } from "vitest";
import { collected, serve } from "../../../test/helpers/page/graph-server.ts";
import { STORES_BELOW } from "../../../test/helpers/postgres/stores.ts";
import { createDeepAgent } from "../../deep/index.ts";
import { callTool, ScriptedModel } from "../../testing/index.ts";
import { createServer, listen } from "./index.ts";

it.each(STORES_BELOW)(
  "a server keeps threads, runs and items in $name, and two servers share them",
  async ({ create }) => {
    const place = await create();
    const open = async () => {
      const [checkpointer, store] = await Promise.all([place.open(), place.openItems()]);
      const model = new ScriptedModel([callTool("write_todos", { todos: ["Dig"] }), "Dug."], { loop: true });
      const server = await createServer({
        graphs: { agent: createDeepAgent({ model }) },
        checkpointer,
        store,
      });
      const { url: apiUrl, close } = await listen(server, { port: 0, hostname: "127.0.0.1" });
      const client = new Client({ apiUrl, apiKey: server.token!, callerOptions: { maxRetries: 0 } });
      const end = async (): Promise<void> => {
        await server.close();
        await close();
        await Promise.all([checkpointer.close(), store.close()]);
      };
      return { client, end };
    };
    const [one, other] = await Promise.all([open(), open()]);

    const { thread_id } = await one.client.threads.create({ metadata: { topic: "garden" } });
    const input = { messages: [{ type: "human", content: "Dig" }] };
    const values = (await one.client.runs.wait(thread_id, "agent", { input })) as { todos: unknown[] };
    expect(values.todos).toMatchObject([{ content: "Dig" }]);

    expect(await other.client.threads.search({ metadata: { topic: "garden" } })).toMatchObject([
      { thread_id },
    ]);
    expect(await other.client.runs.list(thread_id)).toMatchObject([{ status: "success" }]);
    expect((await other.client.threads.getHistory(thread_id)).length).toBeGreaterThan(3);
    await other.client.threads.updateState(thread_id, { values: { todos: [{ content: "Water" }] } });
    const copy = await other.client.threads.copy(thread_id);
    const state = await one.client.threads.getState(copy.thread_id);
    expect(state.values).toMatchObject({ todos: [{ content: "Water" }] });

    await one.client.store.putItem(["notes"], "a", { text: "kelp" });
    expect((await other.client.store.getItem(["notes"], "a"))?.value).toEqual({ text: "kelp" });
    await other.client.threads.delete(thread_id);
    expect((await one.client.threads.search()).map((thread) => thread.thread_id)).toEqual([copy.thread_id]);
    await Promise.all([one.end(), other.end()]);
    place.remove();
  },
);

it("a reader of another server's run is asked to retry, and not notified of an end", async () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-shared-"));
  const path = join(folder, "threads.db");
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const model = new ScriptedModel([() => released.then(() => "Dug.")]);
  const one = await serve({ agent: createDeepAgent({ model }) }, { path });
  const other = await serve({ agent: createDeepAgent({ model }) }, { path });
  const { thread_id: thread } = await one.client.threads.create();
  const input = { messages: [{ type: "human", content: "Dig" }] };
  const { run_id: run } = await one.client.runs.create(thread, "agent", { input });

  const joined = (): Promise<unknown[]> => collected(other.client.runs.joinStream(thread, run));
  await expect(joined()).rejects.toThrow(/503.*is not running on this server/);
  await expect(other.client.runs.join(thread, run)).rejects.toThrow(/503/);
  release();
  await one.client.runs.join(thread, run);
  expect(JSON.stringify(await joined())).toContain("Dug.");
  await Promise.all([one.close(), other.close()]);
  rmSync(folder, { recursive: true });
});
