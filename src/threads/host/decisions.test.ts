import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, onTestFinished } from "vitest";
import { decisionContract } from "../../../test/contracts/decisions.ts";
import { newDatabase } from "../../../test/helpers/postgres/database.ts";
import { isRelease } from "../../../test/helpers/runner/rounds.ts";
import { sqliteSaver } from "../../storage/index.ts";
import { ScriptedModel } from "../../testing/index.ts";
import { clusterHost, openCluster, startWorker, type Cluster } from "../cluster/index.ts";
import { DEFAULT_SETTINGS } from "../prepare/settings.ts";
import { GRAPH } from "../thread/thread-settings.ts";
import { localHost, threadsGraph } from "./threads-graph.ts";

function project(): string {
  const dir = mkdtempSync(join(tmpdir(), "holdfast-decisions-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  mkdirSync(join(dir, "project"));
  return dir;
}

const settingsIn = (folder: string) =>
  ({
    ...DEFAULT_SETTINGS,
    model: "scripted",
    plan: false,
    mode: "ask",
    dir: join(folder, "project"),
  }) as const;

const scripted = (model: ScriptedModel) => async () =>
  ({ model, name: "scripted", source: "option", isFallback: false }) as const;

describe("decisions on a host that runs threads itself", () => {
  decisionContract(async (steps) => {
    const folder = project();
    const defaults = settingsIn(folder);
    const model = new ScriptedModel(steps);
    const newHost = async () => {
      const saver = await sqliteSaver(join(folder, "threads.db"));
      const host = localHost({ saver, defaults, modelOf: scripted(model) });
      onTestFinished(async () => {
        await host.stop();
        saver.close();
      });
      return host;
    };
    const host = await newHost();
    return {
      dir: defaults.dir,
      thread: host.thread("t"),
      elsewhere: async () => (await newHost()).thread("t"),
      requests: () => model.requests,
    };
  });
});

describe.runIf(isRelease)("decisions on a host whose threads workers run", () => {
  let clusters: [Cluster, Cluster];
  beforeAll(async () => {
    const url = await newDatabase();
    clusters = [await openCluster(url), await openCluster(url)];
  });
  afterAll(async () => {
    for (const cluster of clusters) await cluster.close();
  });

  decisionContract(async (steps) => {
    const defaults = settingsIn(project());
    const model = new ScriptedModel(steps);
    const thread = `t-${crypto.randomUUID()}`;
    const hosts = clusters.map((cluster) => {
      const graph = threadsGraph({ saver: cluster.store, defaults, modelOf: scripted(model) });
      const host = clusterHost(cluster, new Map([[GRAPH, graph]]));
      return { host, graph };
    });
    const worker = await startWorker(clusters[0], {
      graphs: new Map([[GRAPH, hosts[0]!.graph]]),
      onLost: () => {},
    });
    onTestFinished(async () => {
      await worker.drain();
      for (const { host } of hosts) await host.stop();
    });
    return {
      dir: defaults.dir,
      thread: hosts[0]!.host.thread(thread),
      elsewhere: () => hosts[1]!.host.thread(thread),
      requests: () => model.requests,
    };
  });
});
