import { afterEach, expect, it, vi } from "vitest";
import { ask, newDatabase } from "../../../../test/helpers/postgres/database.ts";
import { startPooler } from "../../../../test/helpers/postgres/pooler.ts";
import { openCluster, type Cluster } from "../index.ts";
import { Membership } from "../registry.ts";
import { readStatus } from "../status.ts";
import { ClusterDatabase } from "./database.ts";
import { grantRights } from "./migrate.ts";
import { probeDatabase } from "./probes.ts";

const opened: Pick<Cluster, "close">[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  for (const one of opened.splice(0)) await one.close();
});

async function open(url: string): Promise<Cluster> {
  const cluster = await openCluster(url);
  opened.push(cluster);
  return cluster;
}

/** A database, and its address for a role that may make nothing there. */
async function withRole(): Promise<{ url: string; theirs: string; role: string }> {
  const url = await newDatabase();
  const role = new URL(url).pathname.slice(1);
  await ask(url, `CREATE ROLE ${role} LOGIN PASSWORD 'x'`);
  const theirs = new URL(url);
  [theirs.username, theirs.password] = [role, "x"];
  return { url, theirs: theirs.href, role };
}

const join = ({ db }: Pick<Cluster, "db">) =>
  Membership.join(db, { slots: 1, queues: ["runs"], onLost: () => {} });

it("a database that can be shared has no problem", async () => {
  const url = await newDatabase();
  await open(url);
  const probes = await probeDatabase(url, { heartbeat: true });
  expect(probes.map(({ level, says }) => `${level} ${says}`)).toEqual([
    "ok is reached without TLS",
    "ok keeps sessions",
    "ok gives postgres the rights that are needed",
    "ok has this machine's time",
    "ok takes heartbeats",
  ]);
});

it("Holdfast detects a pooler in transaction mode, and opens nothing through it", async () => {
  const pooler = await startPooler(await newDatabase());
  try {
    await expect(openCluster(pooler.url)).rejects.toMatchObject({
      code: "storage-failed",
      message: expect.stringMatching(
        /is behind a pooler that does not keep sessions.*pool_mode=session/,
      ) as string,
    });
  } finally {
    await pooler.stop();
  }
});

it("a role without the right to create tables gets an error, or uses existing tables", async () => {
  const { url, theirs, role } = await withRole();
  await expect(openCluster(theirs)).rejects.toThrow(
    `has no tables yet, and ${role} may not make them: let holdfast migrate --role ${role} do it`,
  );
  await expect(ClusterDatabase.open(theirs)).rejects.toThrow("Its user lacks a right: let holdfast migrate");
  const owner = await open(url);
  await expect(openCluster(theirs)).rejects.toThrow(/gives \w+ no right to dbos\..* and \d+ more/);
  await grantRights(owner.db.pool, role);
  const cluster = await open(theirs);
  const lease = await cluster.store.acquireThread("tide");
  await lease();
  const member = await join(cluster);
  expect((await readStatus(cluster.db)).workers).toHaveLength(1);
  await member.leave();
});

it("variables of libpq reach the heartbeat", async () => {
  const { url, theirs, role } = await withRole();
  const owner = await open(url);
  await grantRights(owner.db.pool, role);
  const bare = new URL(theirs);
  bare.password = "";
  vi.stubEnv("PGPASSWORD", "x");
  const cluster = await open(bare.href);
  const member = await join(cluster);
  expect((await readStatus(cluster.db)).workers).toMatchObject([{ id: member.id, state: "working" }]);
  await member.leave();
});

it("a worker whose heartbeat cannot be kept up does not join, and says why", async () => {
  const { url, theirs, role } = await withRole();
  const owner = await open(url);
  await grantRights(owner.db.pool, role);
  const cluster = await open(theirs);
  await ask(url, `REVOKE UPDATE ON holdfast.workers FROM ${role}`);
  await expect(join(cluster)).rejects.toThrow(
    "The heartbeat of a worker cannot be kept up: permission denied for table workers.",
  );
  expect(await ask(url, "SELECT FROM holdfast.workers")).toEqual([]);
});

it("Holdfast reports a database clock that differs from its own", async () => {
  const url = await newDatabase();
  const now = Date.now();
  vi.spyOn(Date, "now").mockReturnValue(now - 90_000);
  const clock = (await probeDatabase(url)).find(({ level }) => level === "note");
  expect(clock!.says).toMatch(/has a clock that is 9\d s ahead of this machine's/);
});

it("a server that never answers is given up after the time of the address", async () => {
  const { createServer } = await import("node:net");
  const server = createServer(() => {}).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { port: number };
  const [probe] = await probeDatabase(`postgres://u:secret@127.0.0.1:${port}/x?connect_timeout=1`);
  expect(probe).toEqual({ level: "problem", says: "cannot be used: timeout expired." });
  server.close();
});
