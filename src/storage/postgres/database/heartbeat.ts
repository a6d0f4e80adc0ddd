import { createRequire } from "node:module";
import { Heartbeat } from "../../store/index.ts";
import type { Database } from "./database.ts";

export function databaseHeartbeat({ address, schema }: Database): Heartbeat {
  return new Heartbeat({
    program: PROGRAM,
    workerData: {
      pg: createRequire(import.meta.url).resolve("pg"),
      url: address.url,
      sql: `UPDATE ${schema}.leases SET beat = now() WHERE fence = ANY($1::bigint[]) AND holder IS NOT NULL`,
    },
  });
}

/** The worker's program. A pool of one replaces a lost connection. */
const PROGRAM = `
const { workerData } = require("node:worker_threads");
const { Pool } = require(workerData.pg);
const pool = new Pool({
  connectionString: workerData.url,
  max: 1,
  application_name: "holdfast heart",
  idleTimeoutMillis: 0,
  connectionTimeoutMillis: workerData.every,
  query_timeout: workerData.every,
});
pool.on("error", () => {});
let isBusy = false;

// The next beat makes up for a missed one.
function beat(tokens) {
  if (isBusy) return;
  isBusy = true;
  pool.query(workerData.sql, [tokens]).catch(() => {}).finally(() => { isBusy = false; });
}

function close() {
  pool.end().catch(() => {});
}
`;
