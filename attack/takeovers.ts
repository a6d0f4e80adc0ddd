import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { LEASE, postgresSaver, type PostgresSaver } from "../src/storage/index.ts";
import { startPostgres } from "../test/helpers/postgres/server.ts";
import { chance, type Attack, type AttackResult } from "./attack.ts";

const TRIES = 500;
/** How many writes are under way when the thread is taken. */
const WRITES = 4;

/** Takes a thread in Postgres from a holder that is writing to it, and looks whether something of that comes later. */
export const takeovers: Attack = {
  name: "takeovers",
  run: async ({ tries = TRIES, seed }) => {
    const server = await startPostgres();
    try {
      return await takeThreads(server.url, { tries, seed });
    } finally {
      await server.stop();
    }
  },
};

export async function takeThreads(
  url: string,
  { tries, seed }: { tries: number; seed: number },
): Promise<AttackResult> {
  const next = chance(seed);
  const savers = await Promise.all([postgresSaver(url), postgresSaver(url)]);
  let [stale, inTime, refused] = [0, 0, 0];
  let lease = await savers[0].acquireThread("t");
  for (let at = 0; at < tries; at++) {
    const [holder, taker] = at % 2 === 0 ? savers : [savers[1], savers[0]];
    const writes = Array.from({ length: WRITES }, (_, n) => write(holder, lease.token, at * WRITES + n));
    const settled = Promise.allSettled(writes);
    await new Promise((resolve) => setTimeout(resolve, next() * 6));
    lease = await taker.acquireThread("t", { force: true });
    const found = await count(taker);
    for (const { status } of await settled) {
      if (status === "fulfilled") inTime += 1;
      else refused += 1;
    }
    stale += (await count(taker)) - found;
  }
  await Promise.all(savers.map((saver) => saver.close()));
  const notes = `${inTime} writes in time, ${refused} refused, ${stale} after the thread was taken`;
  return { tries, failures: stale, notes };
}

/** A checkpoint, or what a task has written. */
async function write(saver: PostgresSaver, token: string, n: number): Promise<void> {
  const config = { configurable: { thread_id: "t", checkpoint_ns: "", [LEASE]: token } };
  const metadata = { source: "loop", step: n, parents: {} } as const;
  const checkpoint = { ...emptyCheckpoint(), id: String(n).padStart(8, "0") };
  const text = `${n} `.repeat(100);
  if (n % 2 === 0) {
    await saver.put(config, { ...checkpoint, channel_values: { text } }, metadata, { text: n });
    return;
  }
  const place = { configurable: { ...config.configurable, checkpoint_id: "of all" } };
  await saver.putWrites(place, [["text", text]], `task ${n}`);
}

/** How often the thread was written to: its mark in the list of those at work is that number. */
async function count(saver: PostgresSaver): Promise<number> {
  return Number((await saver.threadsAtWork()).get("t") ?? 0);
}
