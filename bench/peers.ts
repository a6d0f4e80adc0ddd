import { existsSync } from "node:fs";
import { deepagentsSystems } from "./deepagents.ts";
import type { System } from "./systems.ts";

export interface Peers {
  systems: readonly System[];
  /** Why a peer is left out. */
  notes: string[];
}

/** The peers installed in this folder. One that cannot run is left out with the reason. */
export async function loadPeers(): Promise<Peers> {
  const copies = ["langchain", "@langchain/core", "@langchain/langgraph"].filter((name) =>
    existsSync(new URL(`node_modules/${name}`, import.meta.url)),
  );
  if (copies.length > 0) {
    const reason = `bench/node_modules has its own ${copies.join(" and ")}; run npm ci in bench`;
    return { systems: [], notes: [`deepagents is left out: ${reason}.`] };
  }
  try {
    return { systems: await deepagentsSystems(), notes: [] };
  } catch (error) {
    return { systems: [], notes: [`deepagents is left out: ${(error as Error).message.split("\n")[0]}`] };
  }
}
