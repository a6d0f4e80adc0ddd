import { chaos } from "../test/helpers/cluster/chaos.ts";
import { TestCluster } from "../test/helpers/cluster/cluster.ts";
import { startPostgres } from "../test/helpers/postgres/server.ts";
import type { Attack } from "./attack.ts";

/** Kills, stops and cuts off the workers of a cluster: for every run one result in the end, and no call unseen twice. */
export const cluster: Attack = {
  name: "cluster",
  run: async ({ seed, tries = 60 }) => {
    const postgres = await startPostgres();
    const runs = await TestCluster.on(postgres.url);
    try {
      const options = { threads: 20, runsPerThread: 3, turns: 5, blows: tries, seed };
      const problems = await chaos(runs, options);
      return { tries, failures: problems.length, notes: problems.slice(0, 3).join("; ") || "60 runs" };
    } finally {
      await runs.close();
      await postgres.stop();
    }
  },
};
