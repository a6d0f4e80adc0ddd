import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/** A server under load, in a process of its own. */
export interface LoadedServer {
  name: string;
  url: string;
  token: string;
  /** Halts it and lets it go on. */
  halt: (isHalted: boolean) => void;
  stop: () => void;
}

export const OURS = "holdfast";
export const PEER = "langgraphjs dev";

const HERE = fileURLToPath(new URL(".", import.meta.url));
/** It wants another TypeScript than this project has, and packages that the lock file of no other platform knows. */
const PEER_PACKAGES = [
  "@langchain/langgraph-cli@1.5.1",
  "@langchain/langgraph-api@1.5.1",
  "typescript@5.9.3",
];

/** `createServer` with threads in a SQLite file. */
export async function startOurs(): Promise<LoadedServer> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-load-"));
  const child = spawn(process.execPath, [join(HERE, "holdfast.mjs"), join(folder, "threads.db")], {
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  const { url, token } = JSON.parse(line) as { url: string; token: string };
  return { name: OURS, url, token, ...controls(child, folder) };
}

/** LangGraph's own server, which works on ten runs at a time unless it is told otherwise. */
export async function startPeer(runs: number): Promise<LoadedServer> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-load-"));
  writeFileSync(join(folder, "package.json"), '{ "private": true }');
  const install = ["install", "--no-audit", "--no-fund", "--prefer-offline", ...PEER_PACKAGES];
  execFileSync("npm", install, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  const graphs = Object.fromEntries(
    ["speaker", "control"].map((name) => [name, `${relative(folder, HERE)}/graph.mjs:${name}`]),
  );
  const config = join(folder, "langgraph.json");
  writeFileSync(config, JSON.stringify({ node_version: "20", graphs, env: {} }));
  const port = await freePort();
  const args = ["dev", "--no-browser", "--host", "127.0.0.1", "--port", String(port), "--config", config];
  const child = spawn(
    join(folder, "node_modules/.bin/langgraphjs"),
    [...args, "--n-jobs-per-worker", String(runs)],
    {
      cwd: folder,
      detached: true,
      env: { PATH: process.env["PATH"], HOME: folder, LANGSMITH_TRACING: "false" },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let log = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (text: Buffer) => {
      log = (log + text.toString()).slice(-10_000);
    });
  }
  const url = `http://127.0.0.1:${port}`;
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${PEER} ended: ${log}`);
    const reply = await fetch(`${url}/ok`).catch(() => undefined);
    if (reply?.ok) break;
    await sleep(200);
  }
  return { name: PEER, url, token: "", ...controls(child, folder) };
}

/** Halts or ends a server, with the processes that it started. */
function controls(child: ChildProcess, folder: string): Pick<LoadedServer, "halt" | "stop"> {
  const signal = (name: NodeJS.Signals): void => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, name);
  };
  return {
    halt: (isHalted) => signal(isHalted ? "SIGSTOP" : "SIGCONT"),
    stop: () => {
      signal("SIGKILL");
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as { port: number };
  probe.close();
  return port;
}
