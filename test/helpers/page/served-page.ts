import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** `holdfast serve` as a process of its own, on the offline model and a small folder. */
export class ServedPage {
  readonly folder = mkdtempSync(join(tmpdir(), "holdfast-page-"));
  readonly dir = join(this.folder, "work");
  readonly state = join(this.folder, "threads.db");
  /** The address with its key. */
  address = "";
  #process: ChildProcess | undefined;

  constructor() {
    mkdirSync(join(this.dir, "notes"), { recursive: true });
    writeFileSync(join(this.dir, "main.ts"), "// TODO: say more\nconsole.log('hello');\n");
    writeFileSync(join(this.dir, "notes/one.md"), "# One\n\nSome words.\n");
    writeFileSync(join(this.dir, "package.json"), '{ "dependencies": { "left-pad": "1.0.0" } }\n');
  }

  /** Starts it; `pace` is how many times slower than readable the model is. */
  async start({ pace = 0, port = 0, token, flags = [] }: StartOptions = {}): Promise<void> {
    const args = [
      "serve",
      "--port",
      String(port),
      "--dir",
      this.dir,
      "--state",
      this.state,
      "--model",
      "offline",
    ];
    this.#process = spawn(
      process.execPath,
      ["dist/surfaces/cli/main.js", ...args, ...(token ? ["--token", token] : []), ...flags],
      {
        env: { ...process.env, HOLDFAST_PACE: String(pace), HOLDFAST_PRICES: "3,15" },
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    const lines = createInterface({ input: this.#process.stdout! });
    const [line] = (await once(lines, "line")) as [string];
    this.address = line.trim();
  }

  /** Ends it, gently or as a crash would. */
  async kill(signal: "SIGTERM" | "SIGKILL" = "SIGKILL"): Promise<void> {
    const ended = once(this.#process!, "exit");
    this.#process!.kill(signal);
    await ended;
    this.#process = undefined;
  }

  /** Forgets its threads, and what they wrote. */
  async clear(): Promise<void> {
    const { origin, hash } = new URL(this.address);
    const headers = { authorization: `Bearer ${hash.slice("#token=".length)}` };
    const found = await fetch(`${origin}/holdfast/threads`, { headers });
    const { threads } = (await found.json()) as { threads: { id: string }[] };
    for (const { id } of threads)
      await fetch(`${origin}/holdfast/threads/${id}`, { method: "DELETE", headers });
    rmSync(join(this.dir, "survey.md"), { force: true });
  }

  async close(): Promise<void> {
    if (this.#process) await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

interface StartOptions {
  pace?: number;
  port?: number;
  token?: string;
  flags?: readonly string[];
}
