import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Annotation, InMemoryStore, interrupt, StateGraph } from "@langchain/langgraph";
import { afterEach, expect, it, vi } from "vitest";
import { sqliteSaver } from "../../storage/index.ts";
import { hostedGraphs } from "../../surfaces/server/graphs.ts";
import { RunHost } from "./host.ts";
import { newRecord } from "./records.ts";
import type { RunRequest } from "./request/request.ts";

const State = Annotation.Root({ said: Annotation<string> });
const BUSY = { code: "thread-busy" };

let open: { host: RunHost; end: () => void } | undefined;

afterEach(async () => {
  open?.end();
  await open?.host.stop();
  open = undefined;
});

async function hosted(): Promise<{ host: RunHost; end: () => void }> {
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const ask = (): { said: string } => ({ said: String(interrupt("Well?")) });
  const asks = new StateGraph(State).addNode("ask", ask).addEdge("__start__", "ask").compile();
  const asksBeside = new StateGraph(State)
    .addNode("ask", ask)
    .addNode("work", async () => {
      await ended;
    })
    .addEdge("__start__", "ask")
    .addEdge("__start__", "work")
    .compile();
  const quotes = new StateGraph(State)
    .addNode("quote", async (_, { writer }) => {
      writer?.({ __interrupt__: [{ value: "of another graph" }] });
      await ended;
    })
    .addEdge("__start__", "quote")
    .compile();
  const checkpointer = await sqliteSaver(":memory:");
  const home = { checkpointer, store: new InMemoryStore() };
  const graphs = hostedGraphs("test", { asks, asksBeside, quotes }, home);
  open = { host: new RunHost({ graphs, checkpointer, ledger: checkpointer.ledger }), end };
  return open;
}

function request(graph: string, more: Partial<RunRequest> = {}): RunRequest {
  return { graph, input: !more.command ? { said: "Go." } : undefined, ...more };
}

const ANSWER = { command: { resume: "yes" } };

it("the host accepts an answer that comes before the end of the asking run is saved", async () => {
  const { host } = await hosted();
  for (let n = 0; n < 10; n += 1) {
    const asking = await host.start(`t${n}`, request("asks"));
    while (!asking.isAsking) await sleep(0);
    const answering = await host.start(`t${n}`, request("asks", ANSWER));
    await answering.done;
    expect(answering.result?.values).toEqual({ said: "yes" });
  }
});

it("the host refuses an answer while other work of the asking run continues", async () => {
  const { host, end } = await hosted();
  const asking = await host.start("t", request("asksBeside"));
  while (!asking.isAsking) await sleep(0);
  await expect(host.start("t", request("asksBeside", ANSWER))).rejects.toMatchObject(BUSY);
  end();
  await asking.done;
});

it("words of a node that look like a question are none", async () => {
  const { host } = await hosted();
  const quoting = await host.start("t", request("quotes"));
  while (quoting.chunks.last < 3) await sleep(0);
  expect(quoting.isAsking).toBe(false);
  await expect(host.start("t", request("asks"))).rejects.toMatchObject(BUSY);
});

it("a thread for one run takes no other when that ends", async () => {
  const { host } = await hosted();
  const asking = await host.start("t", request("asks", { isTemporary: true }));
  while (!asking.isAsking) await sleep(0);
  await expect(host.start("t", request("asks"))).rejects.toMatchObject(BUSY);
  await asking.done;
});

it.each([
  ["the first that took it", false],
  ["the last, for longer than the first waits for the thread", true],
])("two servers of one file run the same unfinished run once, by %s", async (_name, isLong) => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-host-"));
  let [ran, prepared, refused] = [0, 0, 0];
  const works = new StateGraph(State)
    .addNode("work", async () => {
      ran += 1;
      if (isLong) await vi.waitUntil(() => refused > 0, 120_000);
      return { said: "Done." };
    })
    .addEdge("__start__", "work");
  const serve = async () => {
    const checkpointer = await sqliteSaver(join(folder, "threads.db"));
    const acquire = checkpointer.acquireThread.bind(checkpointer);
    checkpointer.acquireThread = (...asked) =>
      acquire(...asked).catch((error: unknown) => {
        refused += 1;
        throw error;
      });
    const home = { checkpointer, store: new InMemoryStore() };
    const graphs = new Map(
      [...hostedGraphs("test", { works: works.compile() }, home)].map(([name, graph]) => {
        const prepare: typeof graph.prepare = async (...args) => {
          const place = (prepared += 1);
          // Both have taken the run before either has the thread.
          await vi.waitUntil(() => prepared > 1, 120_000);
          if (isLong && place === 1) await vi.waitUntil(() => ran > 0, 120_000);
          return graph.prepare(...args);
        };
        return [name, { ...graph, prepare }] as const;
      }),
    );
    return { checkpointer, host: new RunHost({ graphs, checkpointer, ledger: checkpointer.ledger }) };
  };
  const both = [await serve(), await serve()];
  try {
    const [{ host, checkpointer }] = both as [(typeof both)[0]];
    await host.noteThread("t", { graph: "works" });
    const record = newRecord("t", request("works"));
    await checkpointer.ledger.putRun(record);
    for (const one of both) await one.host.recover();
    const status = async () => (await checkpointer.ledger.run(record.id))?.status;
    await expect.poll(status, { timeout: 120_000 }).toBe("success");
    await Promise.all(both.map((one) => one.host.stop()));
    expect(prepared).toBe(2);
    expect(ran).toBe(1);
    expect(await status()).toBe("success");
  } finally {
    await Promise.all(both.map((one) => one.host.stop()));
    for (const { checkpointer } of both) checkpointer.close();
    rmSync(folder, { recursive: true });
  }
});
