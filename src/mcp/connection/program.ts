import type { ChildProcess } from "node:child_process";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import spawn from "cross-spawn";
import { attempt } from "../../errors.ts";
import { endGroup, endStrays, COMMAND_TAG, supervisor, WINDOWS_VARIABLES } from "../../files/shell/index.ts";
import type { ProgramServer } from "../options.ts";
import { messageFilter } from "./message-filter.ts";

const MAX_MESSAGE_BYTES = 16 * 2 ** 20;
const MAX_OUTPUT_CHARS = 2000;
/** The time for a program to end by itself after the connection is closed. */
const GRACE_MS = 500;

/** The variables that every program gets. */
const SAFE_VARIABLES = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "LC_ALL", "TMPDIR", "TZ"];

/**
 * A server that is a program: messages are lines of its standard input and output. The program and all processes that it
 * started end when it is closed, and when this process is killed. It does not keep this process alive.
 */
export class Program implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #server: ProgramServer;
  readonly #dir: string;
  readonly #tag = crypto.randomUUID();
  readonly #isUseful = messageFilter();
  #child: ChildProcess | undefined;
  #ended: Promise<void> | undefined;
  #line: Buffer[] = [];
  #length = 0;
  #output = "";

  constructor(server: ProgramServer, dir: string) {
    this.#server = server;
    this.#dir = dir;
  }

  /** The end of its standard error, and of other text on its standard output. */
  get output(): string {
    return this.#output.trim();
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
    stderr.setEncoding("utf8").on("data", (text: string) => this.#addOutput(text));
    this.#ended = new Promise((resolve) => {
      child.once("exit", () => resolve()).once("error", () => resolve());
    });
    void this.#handleExit(child);
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve).on("error", reject);
    });
  }

  async #handleExit(child: ChildProcess): Promise<void> {
    await this.#ended;
    // Its last output may still be in the pipes.
    await Promise.race([new Promise((resolve) => child.once("close", resolve)), sleep(100)]);
    this.onclose?.();
    // The processes that it started may still run.
    await this.close();
  }

  #spawn() {
    const { command, args = [], env, cwd = this.#dir } = this.#server;
    const variables = { ...safeVariables(), ...env, [COMMAND_TAG]: this.#tag };
    try {
      const detached = process.platform !== "win32";
      return spawn(command, args, { cwd, env: variables, detached, windowsHide: true });
    } catch (error) {
      // For example for a NUL in an argument.
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
    // On Windows the number of an ended process may already belong to another one.
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
      if (line !== "") this.#receive(line);
    }
    const rest = piece.subarray(from);
    if (rest.length === 0) return;
    this.#line.push(rest);
    this.#length += rest.length;
    if (this.#length <= MAX_MESSAGE_BYTES) return;
    this.#line = [];
    this.#length = 0;
    this.#addOutput(`\nIt sent a message of more than ${MAX_MESSAGE_BYTES / 2 ** 20} MB and was ended.`);
    void this.close();
  }

  #receive(line: string): void {
    const message = attempt((): unknown => JSON.parse(line));
    // Some programs also print other text there.
    if (message === undefined) this.#addOutput(`${line.slice(0, MAX_OUTPUT_CHARS)}\n`);
    if (message === undefined || !this.#isUseful(message)) return;
    try {
      this.onmessage?.(message as JSONRPCMessage);
    } catch (error) {
      this.onerror?.(error as Error);
    }
  }

  #addOutput(text: string): void {
    this.#output = `${this.#output}${text}`.slice(-MAX_OUTPUT_CHARS);
  }
}

function safeVariables(): Record<string, string> {
  const names = process.platform === "win32" ? [...SAFE_VARIABLES, ...WINDOWS_VARIABLES] : SAFE_VARIABLES;
  return Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}
