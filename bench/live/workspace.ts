import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { shellBackend, type FileBackend } from "../../src/files/index.ts";
import type { Files, Outcome } from "./tasks/task.ts";

/** How commands are run: in a sandbox, unless the user says that the machine is one. */
export interface SandboxOptions {
  isolation: "always" | "never";
}

const TEST_TIMEOUT = 30_000;
/** No task has files of such a size; a model may make one. */
const MAX_BYTES = 1_000_000;

/** A folder of its own for one run, with the files of its task. */
export class LiveWorkspace {
  readonly root: string;
  readonly #sandbox: SandboxOptions;

  private constructor(root: string, sandbox: SandboxOptions) {
    this.root = root;
    this.#sandbox = sandbox;
  }

  static async create(files: Files, sandbox: SandboxOptions): Promise<LiveWorkspace> {
    const root = await mkdtemp(join(tmpdir(), "holdfast-live-"));
    await writeFiles(root, files);
    return new LiveWorkspace(root, sandbox);
  }

  /** The folder as an agent's files and commands have it. */
  get backend(): FileBackend {
    return shellBackend(this.root, { ...this.#sandbox, timeoutMs: 60_000, maxTimeoutMs: 120_000 });
  }

  /** What stands in the folder now. */
  async outcome(): Promise<Outcome> {
    const files = await readFiles(this.root);
    return { files, test: (tests) => this.#test({ ...files, ...tests }, Object.keys(tests)) };
  }

  async remove(): Promise<void> {
    await rm(this.root, { recursive: true, force: true });
  }

  /** In a copy: the tests are those of the task, whatever the model made of its own. */
  async #test(files: Files, tests: readonly string[]): Promise<string | undefined> {
    const copy = await LiveWorkspace.create(files, this.#sandbox);
    try {
      // One process for all of them: starting one takes longer than the tests.
      const imports = tests.map((path) => `import ${JSON.stringify(`./${path}`)};`).join(" ");
      const command = `node --test-reporter=tap --input-type=module -e '${imports}'`;
      const result = await copy.backend.execute!(command, { timeoutMs: TEST_TIMEOUT });
      if (!result.ok) throw new Error(result.error);
      // A program that ends the process would pass otherwise.
      const wanted = tests.reduce((sum, path) => sum + files[path]!.split("\ntest(").length - 1, 0);
      if (result.exitCode === 0 && result.output.includes(`\n# pass ${wanted}\n`)) return undefined;
      const failed = /^not ok .*$/m.exec(result.output)?.[0] ?? /^\w*Error\b.*$/m.exec(result.output)?.[0];
      return `tests: ${failed ?? (result.timedOut ? "out of time" : "failed")}`;
    } finally {
      await copy.remove();
    }
  }
}

async function writeFiles(root: string, files: Files): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
}

async function readFiles(root: string): Promise<Files> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files: Record<string, string> = {};
  for (const entry of entries) {
    // Links are not followed: a model could point one anywhere.
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const bytes = await readFile(path);
    if (bytes.length <= MAX_BYTES) files[relative(root, path)] = bytes.toString("utf8");
  }
  return files;
}
