import { DBOS } from "@dbos-inc/dbos-sdk";
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { hostedGraphs } from "../../src/surfaces/server/graphs.ts";
import { clusterHost, openCluster, startWorker, type Cluster } from "../../src/threads/cluster/index.ts";
import { ask, newDatabase } from "../helpers/postgres/database.ts";

let cluster: Cluster;

beforeAll(async () => {
  cluster = await openCluster(await newDatabase());
});
afterAll(() => cluster.close());

it("a worker declared dead takes no more turns, and can be closed during a run", async () => {
  let begin: () => void;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  // Heeds no signal, as some tools do.
  const stuck = async (): Promise<never> => {
    begin();
    return new Promise(() => {});
  };
  const graph = new StateGraph(Annotation.Root({ text: Annotation<string> }))
    .addNode("stuck", stuck)
    .addEdge(START, "stuck")
    .addEdge("stuck", END)
    .compile();
  const { store: checkpointer, memories: store } = cluster;
  const graphs = hostedGraphs("test", { stuck: graph }, { checkpointer, store });
  const host = clusterHost(cluster, graphs);
  const onLost = vi.fn<() => void>();
  const worker = await startWorker(cluster, { graphs, onLost });
  await host.start("tide", { graph: "stuck", input: { text: "" } });
  await begun;
  await ask(cluster.db.url, "UPDATE holdfast.workers SET state = 'dead'");
  await vi.waitUntil(() => onLost.mock.calls.length > 0, { timeout: 120_000 });
  await vi.waitUntil(() => !DBOS.isInitialized(), { timeout: 120_000 });
  await worker.drain();
  expect(onLost).toHaveBeenCalledOnce();
  await host.stop();
});
