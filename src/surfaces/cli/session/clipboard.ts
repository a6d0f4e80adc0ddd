import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { hostPath, hostProgram } from "../../../files/programs/index.ts";
import { mediaTypeOf } from "../../../files/text/index.ts";
import type { Environment } from "../../../models/index.ts";

/** A program that writes the image on the clipboard to standard output, and the decoding of that output. */
interface Reader {
  command: readonly [string, ...string[]];
  bytesOf?: (output: Buffer) => Buffer;
}

const READERS: Partial<Record<NodeJS.Platform, readonly Reader[]>> = {
  linux: [
    { command: ["wl-paste", "--no-newline", "--type", "image/png"] },
    { command: ["xclip", "-selection", "clipboard", "-target", "image/png", "-out"] },
  ],
  // Prints «data PNGf…» in hexadecimal.
  darwin: [
    {
      command: ["osascript", "-e", "get the clipboard as «class PNGf»"],
      bytesOf: (output) => Buffer.from(/PNGf([\dA-F]+)/.exec(output.toString())?.[1] ?? "", "hex"),
    },
  ],
  win32: [
    {
      command: [
        "powershell",
        "-NoProfile",
        "-STA",
        "-Command",
        "Add-Type -A System.Windows.Forms,System.Drawing; $i=[Windows.Forms.Clipboard]::GetImage(); if ($i) { $m=New-Object IO.MemoryStream; $i.Save($m,[Drawing.Imaging.ImageFormat]::Png); [Convert]::ToBase64String($m.ToArray()) }",
      ],
      bytesOf: (output) => Buffer.from(output.toString(), "base64"),
    },
  ],
};

/** Stores pasted images as temporary files until the session ends. */
export class Clipboard {
  readonly #env: Environment;
  #folder: Promise<string> | undefined;
  #count = 0;

  constructor(env: Environment) {
    this.#env = env;
  }

  /**
   * Saves the image on the clipboard and returns its file; undefined if there is none or no program can read it. Throws
   * if the file cannot be written.
   */
  async image(): Promise<string | undefined> {
    for (const { command, bytesOf = (output: Buffer) => output } of READERS[process.platform] ?? []) {
      const bytes = bytesOf(await this.#output(command));
      if (!mediaTypeOf(bytes)?.startsWith("image/")) continue;
      this.#folder ??= mkdtemp(join(tmpdir(), "holdfast-"));
      const folder = await this.#folder.catch((error: unknown) => {
        // The next call tries again.
        this.#folder = undefined;
        throw error;
      });
      this.#count += 1;
      const file = join(folder, `pasted-${this.#count}.png`);
      await writeFile(file, bytes, { mode: 0o600 });
      return file;
    }
    return undefined;
  }

  /** Deletes the files. Does not throw. */
  async close(): Promise<void> {
    const folder = await this.#folder?.catch(() => undefined);
    if (folder !== undefined) await rm(folder, { recursive: true, force: true }).catch(() => {});
  }

  /** The output of a program; empty if it is missing or fails. */
  async #output([name, ...args]: Reader["command"]): Promise<Buffer> {
    const program = hostProgram(name, this.#env);
    if (program === undefined) return Buffer.alloc(0);
    const child = spawn(program, args, {
      env: { ...this.#env, PATH: hostPath(this.#env) },
      stdio: ["ignore", "pipe", "ignore"],
      timeout: TIMEOUT_MS,
    });
    const failed = new Promise<Buffer>((resolve) => child.once("error", () => resolve(Buffer.alloc(0))));
    return Promise.race([buffer(child.stdout), failed]);
  }
}

const TIMEOUT_MS = 5000;
