import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { inject } from "vitest";

/** Makes a database of its own in the PostgreSQL of this test run, which starts with the first one; returns its URL. */
export async function newDatabase(): Promise<string> {
  const answer = await fetch(inject("postgresDoor"));
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  await ask(text, `CREATE DATABASE ${name}`);
  const url = new URL(text);
  url.pathname = `/${name}`;
  return url.href;
}

/** Runs a statement on a connection of its own. */
export async function ask(
  url: string,
  sql: string,
  values: unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql, values)).rows;
  } finally {
    await client.end();
  }
}
