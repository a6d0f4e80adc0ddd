// What a worker of the tests has done, written down beside its database, and the gates that hold it up.
import { Pool } from "pg";

const { DATABASE: database, EFFECTS: effects = database, NAME: name } = process.env;
export const pool = new Pool({ connectionString: effects, max: 4 });
pool.on("error", () => {});

export const write = (thread, call, phase, isAgain) =>
  pool.query("INSERT INTO effects (thread, call, phase, worker, again, at) VALUES ($1, $2, $3, $4, $5, $6)", [
    thread,
    call,
    phase,
    name,
    isAgain,
    Date.now(),
  ]);

const open = new Set();
let looking;

/** Looks which gates are open: once for all who wait. A database that is away opens none. */
async function look() {
  await new Promise((resolve) => setTimeout(resolve, 20));
  const { rows } = await pool.query("SELECT name FROM gates").catch(() => ({ rows: [] }));
  for (const row of rows) open.add(row.name);
  looking = undefined;
}

/** Waits until a gate is open. */
export async function pass(gate, signal) {
  if (!gate) return;
  while (!open.has(gate)) {
    signal?.throwIfAborted();
    await (looking ??= look());
  }
}
