import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { openCluster } from "../../src/threads/cluster/index.ts";
import { newDatabase } from "../helpers/postgres/database.ts";
import { inPipes } from "../helpers/terminal/piped-command.ts";
import { run } from "../helpers/terminal/run-program.ts";

/** All documents of a file, as a program reads them. */
const read = (file: string): unknown[] =>
  parseAllDocuments(readFileSync(join("deploy", file), "utf8"), { merge: true }).map((document) =>
    document.toJS(),
  );

interface Container {
  name: string;
  command: string[];
  args: string[];
  envFrom: { secretRef: { name: string } }[];
  securityContext: object;
}
interface Manifest {
  kind: string;
  spec: { template?: { spec: { containers: Container[] } }; triggers?: { metadata: { query: string } }[] };
}
interface Compose {
  services: Record<
    string,
    { entrypoint?: string[]; command?: string[]; user?: string; environment: Record<string, string> }
  >;
}

const manifests = read("kubernetes.yaml") as Manifest[];
const [compose] = read("compose.yaml") as [Compose];
const dockerfile = readFileSync("deploy/Dockerfile", "utf8");
/** The words of an instruction, which must be in the form without a shell. */
const instruction = (name: string): string[] =>
  JSON.parse(new RegExp(`^${name} (.+)$`, "m").exec(dockerfile)![1]!) as string[];

const containers = manifests.flatMap(({ spec }) => spec.template?.spec.containers ?? []);
const commands = [
  { name: "Dockerfile", program: instruction("ENTRYPOINT"), args: instruction("CMD") },
  ...containers.map(({ name, command, args }) => ({ name: `kubernetes ${name}`, program: command, args })),
  ...Object.entries(compose.services).flatMap(([name, { entrypoint: program = [], command: args }]) =>
    args ? { name: `compose ${name}`, program, args } : [],
  ),
];

let home: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "holdfast-deploy-"));
  mkdirSync(join(home, "node_modules"));
  symlinkSync(process.cwd(), join(home, "node_modules/holdfast"));
});
afterAll(() => rmSync(home, { recursive: true }));

it.each(commands)("$name: a command that there is, with flags that it knows", async ({ program, args }) => {
  const [command, ...flags] = args;
  const [node, ...main] = program;
  const { stdout } = await run(node!, [...main, command!, "--help"], {
    cwd: home,
    env: { PATH: process.env["PATH"] },
  });
  for (const flag of flags.filter((one) => one.startsWith("--")))
    expect(stdout).toContain(flag.replace("--no-", "--"));
});

it.each(commands.filter(({ args }) => args[0] === "worker"))(
  "$name: as a container's first process it stops on SIGTERM and leaves the cluster",
  async ({ program, args }) => {
    const database = await newDatabase();
    const words = ["--map-root-user", "--pid", "--fork", "--kill-child", ...program, ...args];
    const env = {
      PATH: process.env["PATH"],
      HOME: home,
      HOLDFAST_DATABASE_URL: database,
      HOLDFAST_MODEL: "offline",
    };
    const child = spawn("unshare", words, { cwd: home, env, stdio: ["ignore", "pipe", "inherit"] });
    try {
      const ended = once(child, "exit");
      let text = "";
      while (!text.includes(" takes runs\n")) text += String((await once(child.stdout, "data"))[0]);
      const first = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").trim();
      process.kill(Number(first), "SIGTERM");
      expect(await ended).toEqual([0, null]);
    } finally {
      child.kill("SIGKILL");
    }
    expect((await inPipes(["status"], { cwd: home, env })).out).toContain("Workers: none");
  },
);

it("no container runs as root, and all secrets are in one place", () => {
  expect(dockerfile).toMatch(/^USER 1000/m);
  for (const { envFrom, securityContext } of containers) {
    expect(envFrom).toEqual([{ secretRef: { name: "holdfast" } }]);
    expect(securityContext).toMatchObject({ runAsNonRoot: true });
  }
  for (const name of ["server", "worker"])
    expect(compose.services[name]).toMatchObject({ user: "1000:1000" });
});

it("servers and workers get the database, and workers follow the depth of the queue", async () => {
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
