import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { Client } from "@langchain/langgraph-sdk";
import { Pool } from "pg";
import { createDeepAgent } from "../../../src/deep/index.ts";
import { createServer, listen } from "../../../src/surfaces/server/index.ts";
import { ScriptedModel } from "../../../src/testing/index.ts";

export interface Started {
  process: ChildProcess;
  /** Resolves to the exit code. */
  ended: Promise<number | null>;
  /** What it has written to its standard error. */
  errors: string[];
}

/** Where a server is, and what it wants with each request. */
export interface Served {
  url: string;
  headers: Record<string, string>;
}

export interface Effect {
  thread: string;
  call: string;
  phase: "begin" | "end" | "start" | "stop";
  worker: string;
  again: boolean;
  /** Epoch milliseconds. */
  at: number;
}

export interface Task {
  id: string;
  turns?: number;
  gates?: Record<string, string>;
  fail?: { times: number; message: string; status?: number };
  /** Milliseconds that the model takes. */
  pause?: number;
}

/** Servers in this process and workers in others, on one database. */
export class TestCluster {
  readonly url: string;
  readonly pool: Pool;
  readonly served: Served[] = [];
  readonly #started = new Set<Started>();
  readonly #closing: (() => Promise<void>)[] = [];

  private constructor(url: string) {
    this.url = url;
    this.pool = new Pool({ connectionString: url, max: 4 });
    this.pool.on("error", () => {});
  }

  static async on(url: string): Promise<TestCluster> {
    const cluster = new TestCluster(url);
    await cluster.pool
      .query(`CREATE TABLE effects (n bigserial, thread text, call text, phase text, worker text, again boolean, at float8);
      CREATE TABLE gates (name text)`);
    return cluster;
  }

  /** A server that does no runs itself. */
  async server(): Promise<Client> {
    const graph = () => createDeepAgent({ model: new ScriptedModel([]), plan: false });
    const server = await createServer({
      graphs: { agent: graph(), speaker: graph() },
      database: this.url,
    });
    const { url, close } = await listen(server, { port: 0, hostname: "127.0.0.1" });
    this.#closing.push(async () => {
      await server.close();
      await close();
    });
    this.served.push({ url, headers: { "x-api-key": server.token!, "content-type": "application/json" } });
    return new Client({ apiUrl: url, apiKey: server.token!, callerOptions: { maxRetries: 0 } });
  }

  /** Starts a worker; resolves when it takes runs. */
  async worker(name: string, env: Record<string, string> = {}, program = WORKER): Promise<Started> {
    const child = spawn(process.execPath, [program], {
      env: { PATH: process.env["PATH"], DATABASE: this.url, EFFECTS: this.url, NAME: name, ...env },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    const ended = new Promise<number | null>((resolve) => {
      child.on("close", (code) => resolve(code));
    });
    const errors: string[] = [];
    child.stderr!.on("data", (text: Buffer) => errors.push(text.toString()));
    const started = { process: child, ended, errors };
    this.#started.add(started);
    await new Promise<void>((resolve, reject) => {
      child.stdout!.on("data", (text: Buffer) => text.toString().startsWith("ready") && resolve());
      child.on("close", () =>
        reject(new Error(`The worker ${name} ended before it was ready: ${errors.join("")}`)),
      );
    });
    return started;
  }

  async open(gate: string): Promise<void> {
    await this.pool.query("INSERT INTO gates VALUES ($1)", [gate]);
  }

  async effects(thread?: string): Promise<Effect[]> {
    const { rows } = await this.pool.query<Effect>(
      "SELECT thread, call, phase, worker, again, at FROM effects WHERE $1::text IS NULL OR thread = $1 ORDER BY n",
      [thread ?? null],
    );
    return rows;
  }

  async close(): Promise<void> {
    for (const { process: child, ended } of this.#started) {
      child.kill("SIGKILL");
      await ended;
    }
    for (const close of this.#closing) await close();
    await this.pool.end();
  }
}

const WORKER = join(import.meta.dirname, "worker.mjs");

/** Milliseconds of processor time that a worker has taken. */
export async function cpuOf({ process: child }: Started): Promise<number> {
  const answer = once(child, "message") as Promise<[NodeJS.CpuUsage]>;
  child.send("cpu");
  const [{ user, system }] = await answer;
  return (user + system) / 1000;
}

export const task = (given: Task) => ({ messages: [{ type: "human", content: JSON.stringify(given) }] });

export async function until<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
