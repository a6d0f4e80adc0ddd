import { runBatch, type Batch } from "./crew.ts";
import { loadPeers } from "./peers.ts";
import type { Rig } from "./run.ts";
import { SYSTEMS } from "./systems.ts";

const systems = [...SYSTEMS, ...(await loadPeers()).systems];
const rigs = new Map<string, Rig>();

process.on("message", (batch: Batch) => {
  void runBatch(batch, systems, rigs).then((outcomes) => process.send!(outcomes));
});
