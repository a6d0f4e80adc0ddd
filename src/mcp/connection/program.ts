import type { ChildProcess } from "node:child_process";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import spawn from "cross-spawn";
import { attempt } from "../../errors.ts";
import { endGroup, endStrays, COMMAND_TAG, supervisor, WINDOWS_VARIABLES } from "../../files/shell/index.ts";
import type { ProgramServer } from "../options.ts";
import { wantedMessages } from "./wanted-messages.ts";

const LONGEST_MESSAGE = 16 * 2 ** 20;
const MOST_SAID = 2000;
/** The time for a program to end by itself after the connection is closed. */
const GRACE_MS = 500;

/** The variables that every program may know. */
const HARMLESS = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "LC_ALL", "TMPDIR", "TZ"];

/**
 * A server that is a program: messages are lines of its standard input and output. It ends with all that it started
 * when it is closed, and also when this process is killed. It keeps no process alive.
 */
export class Program implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #server: ProgramServer;
  readonly #dir: string;
  readonly #tag = crypto.randomUUID();
  readonly #isWanted = wantedMessages();
  #child: ChildProcess | undefined;
  #ended: Promise<void> | undefined;
  #line: Buffer[] = [];
  #length = 0;
  #said = "";

  constructor(server: ProgramServer, dir: string) {
    this.#server = server;
    this.#dir = dir;
  }

  /** The last that it wrote to standard error, or to standard output where only messages belong. */
  get said(): string {
    return this.#said.trim();
  }

  async start(): Promise<void> {
    supervisor.begins(this.#tag);
    const child = this.#spawn();
    this.#child = child;
    const { stdin, stdout, stderr, pid } = child;
    if (pid !== undefined) supervisor.isGroup(this.#tag, pid);
    child.unref();
    for (const pipe of [stdin, stdout, stderr]) (pipe as Socket | null)?.unref?.();
    stdin.on("error", (error) => this.onerror?.(error));
    stdout.on("data", (piece: Buffer) => this.#read(piece));
    stderr.setEncoding("utf8").on("data", (text: string) => this.#hear(text));
    this.#ended = new Promise((resolve) => {
      child.once("exit", () => resolve()).once("error", () => resolve());
    });
    void this.#tellEnd(child);
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve).on("error", reject);
    });
  }

  async #tellEnd(child: ChildProcess): Promise<void> {
    await this.#ended;
    // What it wrote last may still be on its way.
    await Promise.race([closed(child), sleep(100)]);
    this.onclose?.();
    // Whoever it has started is still there.
    await this.close();
  }

  #spawn() {
    const { command, args = [], env, cwd = this.#dir } = this.#server;
    const variables = { ...harmlessVariables(), ...env, [COMMAND_TAG]: this.#tag };
    try {
      const detached = process.platform !== "win32";
      return spawn(command, args, { cwd, env: variables, detached, windowsHide: true });
    } catch (error) {
      // Such as for a NUL in a word.
      supervisor.ended(this.#tag);
      throw error;
    }
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (!stdin?.writable) throw new Error("The program has ended.");
    stdin.write(`${JSON.stringify(message)}\n`);
  }

  async close(): Promise<void> {
    const child = this.#child;
    if (!child) return;
    this.#child = undefined;
    child.stdin?.end();
    await Promise.race([this.#ended, sleep(GRACE_MS)]);
    // On Windows the number of a process that is over may be another's already.
    const isGone = child.exitCode !== null && process.platform === "win32";
    if (child.pid !== undefined && !isGone) {
      await endGroup(child.pid, () => true);
      await endStrays(this.#tag, child.pid);
    }
    supervisor.ended(this.#tag);
    child.stdout?.destroy();
    child.stderr?.destroy();
  }

  #read(piece: Buffer): void {
    let from = 0;
    for (let at = piece.indexOf(10); at >= 0; at = piece.indexOf(10, from)) {
      this.#line.push(piece.subarray(from, at));
      from = at + 1;
      const line = Buffer.concat(this.#line).toString("utf8").trim();
      this.#line = [];
      this.#length = 0;
      if (line !== "") this.#take(line);
    }
    const rest = piece.subarray(from);
    if (rest.length === 0) return;
    this.#line.push(rest);
    this.#length += rest.length;
    if (this.#length <= LONGEST_MESSAGE) return;
    this.#line = [];
    this.#length = 0;
    this.#hear(`\nIt sent a message of more than ${LONGEST_MESSAGE / 2 ** 20} MB and was ended.`);
    void this.close();
  }

  #take(line: string): void {
    const message = attempt((): unknown => JSON.parse(line));
    // Some programs also print other text there.
    if (message === undefined) this.#hear(`${line.slice(0, MOST_SAID)}\n`);
    if (message === undefined || !this.#isWanted(message)) return;
    try {
      this.onmessage?.(message as JSONRPCMessage);
    } catch (error) {
      this.onerror?.(error as Error);
    }
  }

  #hear(text: string): void {
    this.#said = `${this.#said}${text}`.slice(-MOST_SAID);
  }
}

function closed(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once("close", () => resolve());
  });
}

function harmlessVariables(): Record<string, string> {
  const names = process.platform === "win32" ? [...HARMLESS, ...WINDOWS_VARIABLES] : HARMLESS;
  return Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}
