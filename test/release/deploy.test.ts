import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { openCluster } from "../../src/threads/cluster/index.ts";
import { newDatabase } from "../postgres.ts";
import { run } from "../run.ts";

/** All documents of a file, as a program reads them. */
const read = (file: string): unknown[] =>
  parseAllDocuments(readFileSync(join("deploy", file), "utf8"), { merge: true }).map((document) =>
    document.toJS(),
  );

interface Container {
  name: string;
  args: string[];
  env: { name: string }[];
}
interface Manifest {
  kind: string;
  spec: { template?: { spec: { containers: Container[] } }; triggers?: { metadata: { query: string } }[] };
}
interface Compose {
  services: Record<string, { command?: string[]; environment: Record<string, string> }>;
}

const manifests = read("kubernetes.yaml") as Manifest[];
const [compose] = read("compose.yaml") as [Compose];

const containers = manifests.flatMap(({ spec }) => spec.template?.spec.containers ?? []);
const commands = [
  ...containers.map(({ name, args }) => ({ name: `kubernetes ${name}`, args })),
  ...Object.entries(compose.services).flatMap(([name, { command: args }]) =>
    args ? { name: `compose ${name}`, args } : [],
  ),
];

it.each(commands)("$name: a command that there is, with flags that it knows", async ({ args }) => {
  const [npx, holdfast, command, ...flags] = args;
  expect([npx, holdfast]).toEqual(["npx", "holdfast"]);
  const main = join(process.cwd(), "dist/surfaces/cli/main.js");
  const { stdout } = await run(process.execPath, [main, command!, "--help"], {
    env: { PATH: process.env["PATH"] },
  });
  for (const flag of flags.filter((one) => one.startsWith("--")))
    expect(stdout).toContain(flag.replace("--no-", "--"));
});

it("servers and workers are told the database, and workers follow the depth of the queue", async () => {
  for (const { env } of containers) expect(env.map(({ name }) => name)).toContain("HOLDFAST_DATABASE_URL");
  for (const name of ["server", "worker"])
    expect(compose.services[name]?.environment).toHaveProperty("HOLDFAST_DATABASE_URL");
  const query = manifests.flatMap(({ spec }) => spec.triggers ?? [])[0]!.metadata.query;
  const cluster = await openCluster(await newDatabase());
  try {
    expect((await cluster.db.pool.query(query)).rows).toEqual([{ count: "0" }]);
  } finally {
    await cluster.close();
  }
});
