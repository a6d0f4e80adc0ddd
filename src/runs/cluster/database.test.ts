import { expect, it } from "vitest";
import { ask, newDatabase } from "../../../test/postgres.ts";
import { ClusterDatabase } from "./database.ts";

it("a database that cannot be opened is left without a connection, however far that went", async () => {
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
