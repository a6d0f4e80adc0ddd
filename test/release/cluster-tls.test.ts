import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openCluster } from "../../src/threads/cluster/index.ts";
import { Membership } from "../../src/threads/cluster/registry.ts";
import { ask } from "../helpers/postgres/database.ts";
import { startPostgres, type PostgresServer } from "../helpers/postgres/server.ts";

/** For 127.0.0.1, signed by itself, and for nothing but this test. */
const CERTIFICATE = `
-----BEGIN CERTIFICATE-----
MIIBnjCCAUSgAwIBAgIUCisQ2Vd8mX/Id1qk/NjtHp94A0swCgYIKoZIzj0EAwIw
GzEZMBcGA1UEAwwQdGVzdCBvZiBob2xkZmFzdDAgFw0yNjExMTYwNjU3MDFaGA8y
MTI2MTAyMzA2NTcwMVowGzEZMBcGA1UEAwwQdGVzdCBvZiBob2xkZmFzdDBZMBMG
ByqGSM49AgEGCCqGSM49AwEHA0IABMsu3E0HZwGCYZcBlRAWGfCZM5mdyoX9Slcx
AvG4mtl4es8F1fxCKUBR8e5hyXtnuZxqCSdn7Avo3JbfEHgcFhCjZDBiMB0GA1Ud
DgQWBBT21zLJTzx7U/A0Rli6UcfrR6wDgjAfBgNVHSMEGDAWgBT21zLJTzx7U/A0
Rli6UcfrR6wDgjAPBgNVHRMBAf8EBTADAQH/MA8GA1UdEQQIMAaHBH8AAAEwCgYI
KoZIzj0EAwIDSAAwRQIhAIdPoNVcrQOdjYaRS0DnDl5lEkhvN4+bwafgVjG5P4BP
AiBiFrVadYT7YQfkah95cxwekYQyJWOo+lWM/t1SBs9sAA==
-----END CERTIFICATE-----
`;
const KEY = `
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgI9rWc/f7WPV4GcVP
73sh3riiZS8FjvHBqyrPRAaqPrahRANCAATLLtxNB2cBgmGXAZUQFhnwmTOZncqF
/UpXMQLxuJrZeHrPBdX8QilAUfHuYcl7Z7mcagknZ+wL6NyW3xB4HBYQ
-----END PRIVATE KEY-----
`;

let server: PostgresServer;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-tls-"));
  writeFileSync(join(folder, "authority.pem"), CERTIFICATE);
  server = await startPostgres();
  // Written by the server, which wants the key to be its own and nobody else's to read.
  const files = { "server.crt": CERTIFICATE, "server.key": KEY };
  for (const [name, text] of Object.entries(files)) {
    const lines = text
      .trim()
      .split("\n")
      .map((line) => `('${line}')`);
    const program = `cat > ${name} && chmod 600 ${name}`;
    await ask(server.url, `COPY (VALUES ${lines.join()}) TO PROGRAM '${program}'`);
  }
  await ask(server.url, "ALTER SYSTEM SET ssl = on");
  await server.restart();
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

const withTls = (options: Record<string, string>): string => {
  const url = new URL(server.url);
  for (const [name, value] of Object.entries(options)) url.searchParams.set(name, value);
  return url.href;
};

it("all connections of a server and a worker are encrypted, to a verified database", async () => {
  const cluster = await openCluster(
    withTls({ sslmode: "require", sslrootcert: join(folder, "authority.pem") }),
  );
  const lease = await cluster.store.acquireThread("tide");
  const member = await Membership.join(cluster.db, { slots: 1, queues: ["runs"], onLost: () => {} });
  const beats = "SELECT FROM holdfast.workers WHERE beat < now() + interval '9 seconds'";
  while ((await ask(server.url, beats)).length === 0);
  const sessions = await ask(
    server.url,
    `SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE client_addr IS NOT NULL AND pid <> pg_backend_pid()`,
  );
  expect(sessions.length).toBeGreaterThan(3);
  expect(sessions.filter(({ ssl }) => ssl !== true)).toEqual([]);
  await member.leave();
  await lease();
  await cluster.close();
});

it("sslmode=require asks for no authority, as libpq; verify-full refuses a stranger", async () => {
  const cluster = await openCluster(withTls({ sslmode: "require" }));
  const [{ plain } = {}] = await ask(
    server.url,
    `SELECT count(*)::int AS plain FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
     WHERE client_addr IS NOT NULL AND pid <> pg_backend_pid() AND NOT ssl`,
  );
  expect(plain).toBe(0);
  await cluster.close();
  await expect(openCluster(withTls({ sslmode: "verify-full" }))).rejects.toMatchObject({
    code: "storage-failed",
    message: expect.stringContaining("self-signed certificate") as string,
  });
});
