import { expect, it } from "vitest";
import { ask, newDatabase } from "../../../../test/helpers/postgres/database.ts";
import { newRecord } from "../../host/records.ts";
import { Jobs } from "../queue/jobs.ts";
import { ClusterDatabase } from "./database.ts";
import { STEPS } from "./schema.ts";

it("a database that fails to open at any step leaves no open connection", async () => {
  const url = new URL(await newDatabase());
  const name = url.pathname.slice(1);
  await ask(url.href, `CREATE ROLE ${name} LOGIN PASSWORD 'x'; ALTER DATABASE ${name} OWNER TO ${name}`);
  const theirs = new URL(url);
  [theirs.username, theirs.password] = [name, "x"];
  const codes: unknown[] = [];
  let opened: ClusterDatabase | undefined;
  for (let most = 0; !opened; most += 1) {
    await ask(url.href, `ALTER ROLE ${name} CONNECTION LIMIT ${most}`);
    opened = await ClusterDatabase.open(theirs.href).catch((error: { code: unknown }) => {
      codes.push(error.code);
      return undefined;
    });
    const left = `SELECT FROM pg_stat_activity WHERE usename = '${name}'`;
    for (let isLeft = !opened; isLeft;) isLeft = (await ask(url.href, left)).length > 0;
  }
  await opened.close();
  expect(codes.length).toBeGreaterThan(1);
  expect(new Set(codes)).toEqual(new Set(["storage-failed"]));
});

it("Holdfast retries a transaction that the database rolls back, but not forever", async () => {
  const db = await ClusterDatabase.open(await newDatabase());
  try {
    await db.pool.query("CREATE TABLE tries (n int)");
    let tries = 0;
    const undone = (times: number) =>
      db.transaction("tide", async (tx) => {
        await tx.query("INSERT INTO tries VALUES ($1)", [(tries += 1)]);
        if (tries <= times) await tx.query("DO $$ BEGIN RAISE 'undone' USING ERRCODE = '40P01'; END $$");
        return tries;
      });
    expect(await undone(2)).toBe(3);
    expect((await db.pool.query("SELECT n FROM tries")).rows).toEqual([{ n: 3 }]);
    tries = 0;
    await expect(undone(Infinity)).rejects.toMatchObject({ code: "40P01" });
    await expect(
      db.transaction("tide", (tx) => tx.query(`INSERT INTO tries VALUES (${(tries += 1)}), ('x')`)),
    ).rejects.toMatchObject({ code: "22P02" });
    expect(tries).toBe(6);
  } finally {
    await db.close();
  }
});

it("the tables of a newer Holdfast are left alone, and it is said in a sentence", async () => {
  const url = await newDatabase();
  await (await ClusterDatabase.open(url)).close();
  await ask(url, "UPDATE holdfast.cluster_format SET version = 99");
  await expect(ClusterDatabase.open(url)).rejects.toMatchObject({
    code: "storage-version",
    message: expect.stringMatching(/shared with a newer Holdfast \(format 99 of the queue/) as string,
  });
  expect(await ask(url, "SELECT version FROM holdfast.cluster_format")).toEqual([{ version: 99 }]);
});

it("Holdfast adopts tables from before format numbers, and their runs stay", async () => {
  const url = await newDatabase();
  const first = await ClusterDatabase.open(url);
  await new Jobs(first).enqueue(newRecord("tide", { graph: "agent" }));
  await first.close();
  await ask(url, "DROP TABLE holdfast.cluster_format");
  const second = await ClusterDatabase.open(url);
  expect(await new Jobs(second).isBusy("tide")).toBe(true);
  await second.close();
});

it("a step of the tables takes nothing from workers of the version before", () => {
  for (const step of STEPS)
    expect(step).not.toMatch(/\b(DROP|RENAME|DELETE|TRUNCATE|UPDATE|ALTER COLUMN|SET NOT NULL)\b/i);
});
