import { join } from "node:path";
import type { AgentContext, ClientCapabilities } from "@agentclientprotocol/sdk";
import { fail } from "../../files/backend/index.ts";
import { pathMeant } from "../../files/disk/index.ts";
import { createBackend, type Execution, type FileBackend, type FileResult } from "../../files/index.ts";
import type { CommandOptions } from "../../files/shell/index.ts";
import { applyEdits, textEdits } from "../../middleware/files/index.ts";
import type { RunPlace } from "../../threads/prepare/index.ts";
import type { Sdk } from "./sdk.ts";
import type { Calls, FileChange } from "./updates/calls.ts";

export interface EditorOptions {
  sdk: Sdk;
  client: AgentContext;
  capabilities: ClientCapabilities;
  session: string;
  dir: string;
  calls: Pick<Calls, "showChange" | "showTerminal">;
}

/** The files and terminals of an editor, as far as it offers them. Its files include text that is not saved yet. */
export class Editor implements RunPlace {
  readonly run: RunPlace["run"];
  readonly #options: EditorOptions;
  #disk: FileBackend | undefined;

  constructor(options: EditorOptions) {
    this.#options = options;
    if (options.capabilities.terminal) this.run = (words, command) => this.#run(words, command);
  }

  /** A backend for a directory that reads and writes text through the editor. */
  readonly files = (disk: FileBackend): FileBackend => {
    this.#disk = disk;
    const write = (path: string, content: string) => this.#write(path, content);
    const read = (path: string) => this.#read(path);
    const edited = createBackend({
      list: (path) => disk.list(path),
      delete: (path) => disk.delete(path),
      read,
      write,
      swap: async (path, before, content) => {
        const now = await read(path);
        if (!now.ok) return now;
        if (now.content !== before) return { ok: true, swapped: false };
        const result = await write(path, content);
        return result.ok ? { ok: true, swapped: true } : result;
      },
    });
    return {
      ...disk,
      read: (path) => edited.read(path),
      readBytes: (path) => this.#readBytes(path, disk),
      write: (path, content) => edited.write(path, content),
      edit: (path, edit) => edited.edit(path, edit),
    };
  };

  /** The change that a call would make in a file. Undefined if it changes none, or would be refused. */
  async preview(name: string, args: Record<string, unknown>): Promise<FileChange | undefined> {
    const { file_path: file, content } = args;
    if (typeof file !== "string" || !this.#disk) return undefined;
    const path = pathMeant(file, this.#options.dir) ?? file;
    const now = await this.#read(path);
    if (!now.ok && now.reason !== "missing") return undefined;
    const oldText = now.ok ? now.content : null;
    if (name === "write_file" && typeof content === "string") return { path, oldText, newText: content };
    if (name !== "edit_file") return undefined;
    const replaced = applyEdits(oldText ?? "", textEdits(args));
    return replaced.ok ? { path, oldText, newText: replaced.content } : undefined;
  }

  async #read(path: string): Promise<FileResult<{ content: string }>> {
    const { sdk, client, capabilities, session, dir } = this.#options;
    // The disk decides what may be read: it refuses links out of the directory, large files and binary files. The editor
    // must open the same file, so the path is always joined to the directory, even if it begins with its address.
    const saved = await this.#disk!.read(path);
    if (!capabilities.fs?.readTextFile || !saved.ok) return saved;
    try {
      const { content } = await client.request(sdk.methods.client.fs.readTextFile, {
        sessionId: session,
        path: join(dir, path),
      });
      return { ok: true, content };
    } catch (error) {
      if (!(error instanceof sdk.RequestError)) throw error;
      return saved;
    }
  }

  /** The bytes of a file: of the editor's text if it has some, else from the disk. */
  async #readBytes(path: string, disk: FileBackend): Promise<FileResult<{ bytes: Uint8Array }>> {
    const now = this.#options.capabilities.fs?.readTextFile ? await this.#read(path) : undefined;
    return now?.ok ? { ok: true, bytes: Buffer.from(now.content) } : disk.readBytes(path);
  }

  async #write(path: string, content: string): Promise<FileResult<{ created: boolean }>> {
    const before = await this.#read(path);
    const result = await this.#put(path, content, before);
    if (result.ok) {
      this.#options.calls.showChange({ path, oldText: before.ok ? before.content : null, newText: content });
    }
    return result;
  }

  async #put(
    path: string,
    content: string,
    before: FileResult<{ content: string }>,
  ): Promise<FileResult<{ created: boolean }>> {
    const { sdk, client, capabilities, session, dir } = this.#options;
    // Not readable or new: the disk refuses the first, and creates folders for the second.
    if (!capabilities.fs?.writeTextFile || !before.ok) return this.#disk!.write(path, content);
    try {
      await client.request(sdk.methods.client.fs.writeTextFile, {
        sessionId: session,
        path: join(dir, path),
        content,
      });
      return { ok: true, created: false };
    } catch (error) {
      if (!(error instanceof sdk.RequestError)) throw error;
      return fail(`The editor did not write "${path}": ${error.message}`);
    }
  }

  async #run(words: readonly string[], options: CommandOptions): Promise<FileResult<Execution>> {
    const { client, session, calls } = this.#options;
    const { cwd, env, timeoutMs, maxOutput, signal } = options;
    signal?.throwIfAborted();
    // Without the editor's own variables, which may include keys.
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const terminal = await client.createTerminal({
      sessionId: session,
      command: "/usr/bin/env",
      args: ["-i", ...variables, ...words],
      cwd,
      outputByteLimit: maxOutput,
    });
    let timedOut = false;
    const kill = (): void => void terminal.kill().catch(() => {});
    const timer = setTimeout(() => {
      timedOut = true;
      kill();
    }, timeoutMs);
    signal?.addEventListener("abort", kill, { once: true });
    try {
      calls.showTerminal(words, terminal.id);
      const { exitCode } = await terminal.waitForExit();
      const { output, truncated } = await terminal.currentOutput();
      signal?.throwIfAborted();
      return { ok: true, output, exitCode: exitCode ?? null, timedOut, truncated };
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", kill);
      await terminal.release().catch(() => {});
    }
  }
}
