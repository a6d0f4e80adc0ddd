import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { mediaTypeOf } from "../../../files/text/index.ts";
import type { Environment } from "../../../models/index.ts";

/** A program that writes the clipboard's image to standard output, and how its bytes are found there. */
interface Reader {
  command: readonly [string, ...string[]];
  bytesOf?: (output: Buffer) => Buffer;
}

const READERS: Partial<Record<NodeJS.Platform, readonly Reader[]>> = {
  linux: [
    { command: ["wl-paste", "--no-newline", "--type", "image/png"] },
    { command: ["xclip", "-selection", "clipboard", "-target", "image/png", "-out"] },
  ],
  // It prints «data PNGf…», in hexadecimal.
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

/** Images that were pasted, as files for as long as the session lasts: a message takes them along when it is sent. */
export class Clipboard {
  readonly #env: Environment;
  #folder: Promise<string> | undefined;
  #count = 0;

  constructor(env: Environment) {
    this.#env = env;
  }

  /**
   * The file with the image that is on the clipboard; undefined where there is none, or nobody can read it. Throws where
   * there is no place for the file.
   */
  async image(): Promise<string | undefined> {
    for (const { command, bytesOf = (output: Buffer) => output } of READERS[process.platform] ?? []) {
      const bytes = bytesOf(await this.#output(command));
      if (!mediaTypeOf(bytes)?.startsWith("image/")) continue;
      this.#folder ??= mkdtemp(join(tmpdir(), "holdfast-"));
      const folder = await this.#folder.catch((error: unknown) => {
        // There may be room the next time.
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

  /** Does not throw: what cannot be deleted is left to the system. */
  async close(): Promise<void> {
    const folder = await this.#folder?.catch(() => undefined);
    if (folder !== undefined) await rm(folder, { recursive: true, force: true }).catch(() => {});
  }

  /** Empty where the program is not there, or has nothing to say. */
  async #output([program, ...args]: Reader["command"]): Promise<Buffer> {
    const child = spawn(program, args, {
      env: this.#env,
      stdio: ["ignore", "pipe", "ignore"],
      timeout: PATIENCE_MS,
    });
    const failed = new Promise<Buffer>((resolve) => child.once("error", () => resolve(Buffer.alloc(0))));
    return Promise.race([buffer(child.stdout), failed]);
  }
}

const PATIENCE_MS = 5000;
