import { Client } from "pg";
import { HarnessError } from "../../../errors.ts";
import { readAddress } from "../../../storage/postgres/database/index.ts";
import { Heartbeat } from "../heartbeat.ts";
import { SCHEMA } from "./schema.ts";

interface Probe {
  level: "ok" | "note" | "problem";
  says: string;
}

/** The longest wait for a connection, unless the address sets another, and then for all checks. */
const CONNECT_MS = 5000;
const CHECKS_MS = 4000;
/** A larger difference of clocks is reported: it makes times in lists hard to read. No decision depends on it. */
const CLOCK_MS = 5000;

/** Throws `storage-failed` with the first problem of a database for a cluster. */
export async function checkDatabase(address: string): Promise<void> {
  const problem = (await probeDatabase(address)).find(({ level }) => level === "problem");
  if (problem) throw new HarnessError("storage-failed", `${readAddress(address).shown} ${problem.says}`);
}

/**
 * Checks a database: connection, TLS, sessions, rights, clock, and with `heartbeat` the first beat of a worker. Ends
 * within ten seconds, unless the address has a `connect_timeout`. Does not throw.
 */
export async function probeDatabase(address: string, { heartbeat = false } = {}): Promise<Probe[]> {
  const { url, redact, connectMs: connectionTimeoutMillis = CONNECT_MS } = readAddress(address);
  const mostMs = connectionTimeoutMillis + CHECKS_MS;
  const clients = [0, 1].map(() => new Client({ connectionString: url, connectionTimeoutMillis }));
  const probes: Probe[] = [];
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${mostMs / 1000} s`)), mostMs);
  });
  const work = async (): Promise<void> => {
    const [one, other] = clients as [Client, Client];
    for (const client of clients) {
      client.on("error", () => {});
      await client.connect();
    }
    probes.push(tlsOf(one), await sessionOf(one, other), await rightsOf(one), await clockOf(one));
    const { rows } = await one.query(
      `SELECT FROM pg_tables WHERE schemaname = '${SCHEMA}' AND tablename = 'workers'`,
    );
    if (!heartbeat || rows.length === 0 || probes.some(({ level }) => level === "problem")) return;
    await (await Heartbeat.start({ url, id: "probe", onLost: () => {} })).stop();
    probes.push({ level: "ok", says: "takes heartbeats" });
  };
  try {
    await Promise.race([work(), timeout]);
  } catch (error) {
    const { message, code } = error as { message: string; code?: string };
    probes.push({ level: "problem", says: `cannot be used: ${redact(message || String(code))}.` });
  } finally {
    clearTimeout(timer);
    // Not awaited: a dead connection never ends.
    for (const client of clients) void client.end().catch(() => {});
  }
  return probes;
}

function tlsOf(client: Client): Probe {
  const { stream } = (client as unknown as { connection: { stream: Partial<Tls> } }).connection;
  if (stream.encrypted !== true) return { level: "ok", says: "is reached without TLS" };
  if (stream.authorized) return { level: "ok", says: "is reached by TLS; its certificate is checked" };
  return {
    level: "note",
    says: "is reached by TLS; its certificate is not checked (sslmode=verify-full does)",
  };
}

interface Tls {
  encrypted: boolean;
  authorized: boolean;
}

/**
 * Detects a pooler in transaction mode: a setting of one session shows up in another one that gets its connection, or is
 * lost to the first. Locks and notifications are lost in the same way.
 */
async function sessionOf(one: Client, other: Client): Promise<Probe> {
  const mark = crypto.randomUUID();
  const look = "SELECT current_setting('holdfast.probe', true) AS mark";
  await one.query("SELECT set_config('holdfast.probe', $1, false)", [mark]);
  await other.query("BEGIN");
  const theirs = (await other.query<{ mark: string | null }>(look)).rows[0]?.mark;
  const mine = theirs === mark ? "" : (await one.query<{ mark: string | null }>(look)).rows[0]?.mark;
  await other.query("ROLLBACK");
  if (mine === mark) return { level: "ok", says: "keeps sessions" };
  return {
    level: "problem",
    says: "is behind a pooler that does not keep sessions, such as PgBouncer with pool_mode=transaction: use pool_mode=session, or the server's own address.",
  };
}

async function rightsOf(client: Client): Promise<Probe> {
  const { rows } = await client.query<{ role: string; makes: boolean; isthere: boolean; lacking: string[] }>(
    `SELECT current_user AS role, has_database_privilege(current_database(), 'CREATE') AS makes,
       EXISTS (SELECT FROM pg_tables WHERE schemaname = '${SCHEMA}' AND tablename = 'format') AS isthere,
       ARRAY(SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE n.nspname IN ('${SCHEMA}', 'dbos') AND c.relkind IN ('r', 'S') AND NOT (
           has_schema_privilege(n.oid, 'USAGE') AND CASE c.relkind
             WHEN 'S' THEN has_sequence_privilege(c.oid, 'USAGE')
             ELSE has_table_privilege(c.oid, 'SELECT') AND has_table_privilege(c.oid, 'INSERT')
               AND has_table_privilege(c.oid, 'UPDATE') AND has_table_privilege(c.oid, 'DELETE') END)
         ORDER BY 1) AS lacking`,
  );
  const { role, makes, isthere, lacking } = rows[0]!;
  const cure = `let holdfast migrate --role ${role} do it with a user that may.`;
  if (lacking.length > 0) {
    const more = lacking.length > 1 ? ` and ${lacking.length - 1} more` : "";
    return { level: "problem", says: `gives ${role} no right to ${lacking[0]}${more}: ${cure}` };
  }
  if (!isthere && !makes) {
    return { level: "problem", says: `has no tables yet, and ${role} may not make them: ${cure}` };
  }
  return { level: "ok", says: `gives ${role} the rights that are needed` };
}

async function clockOf(client: Client): Promise<Probe> {
  const sentAt = Date.now();
  const { rows } = await client.query<{ now: number }>(
    "SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now",
  );
  const difference = Math.round(rows[0]!.now - (sentAt + Date.now()) / 2);
  if (Math.abs(difference) <= CLOCK_MS) return { level: "ok", says: "has this machine's time" };
  const seconds = Math.round(Math.abs(difference) / 1000);
  return {
    level: "note",
    says: `has a clock that is ${seconds} s ${difference > 0 ? "ahead of" : "behind"} this machine's: set both by NTP`,
  };
}
