import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { getConfig, getCurrentTaskInput, getStore, type BaseStore } from "@langchain/langgraph";
import { attempt, HarnessError } from "../errors.ts";
import { stateFiles } from "../files/backends/index.ts";
import {
  compositeBackend,
  diskBackend,
  sandboxBackend,
  shellBackend,
  storeBackend,
  type FileBackend,
  type RemoteSandbox,
} from "../files/index.ts";
import { compileGlob } from "../files/paths/index.ts";
import type { BackendContext } from "../middleware/files/index.ts";
import { type Isolation } from "../vocabulary.ts";
import { isSandboxBackend } from "./adapt.ts";
import { foreignFiles, type ForeignBackend } from "./foreign.ts";
import {
  bytesOf,
  FILES,
  ProtocolBackend,
  under,
  withoutSlashes,
  type BackendProtocol,
  type ExecuteResponse,
  type FileDownloadResponse,
  type FileInfo,
  type FileUploadResponse,
  type GlobResult,
} from "./protocol.ts";

/** The argument of a backend factory. */
export interface BackendRuntime {
  state: unknown;
  store?: BaseStore;
}

/** Files in the graph state. They exist as long as their thread. */
export class StateBackend extends ProtocolBackend {
  readonly #runtime: BackendRuntime | undefined;

  constructor(runtime?: BackendRuntime | { fileFormat?: "v1" | "v2" }) {
    super();
    this.#runtime = runtime && "state" in runtime ? runtime : undefined;
  }

  [FILES](context?: BackendContext): FileBackend {
    if (context) return context.state;
    const { files = {} } = (this.#runtime?.state ?? stateHere() ?? {}) as { files?: Record<string, string> };
    return stateFiles(files);
  }
}

/** Options of `FilesystemBackend`. */
export interface FilesystemBackendOptions {
  /** Default: the current folder. */
  rootDir?: string;
  /** Has no effect: paths always start at `rootDir`, full host paths work too, and files outside are never reached. */
  virtualMode?: boolean;
  /** Default 10. */
  maxFileSizeMb?: number;
}

/** Files in a folder on disk. */
export class FilesystemBackend extends ProtocolBackend {
  readonly #files: FileBackend;

  constructor(options: FilesystemBackendOptions = {}, files = diskOf(options)) {
    super();
    this.#files = files;
  }

  [FILES](): FileBackend {
    return this.#files;
  }
}

/** The argument of a namespace function. */
export interface StoreBackendContext {
  state: unknown;
  config?: { metadata?: Record<string, unknown>; configurable?: Record<string, unknown> };
  assistantId?: string;
}

/** Options of `StoreBackend`. */
export interface StoreBackendOptions {
  /** Default: the store of the graph. */
  store?: BaseStore;
  /** Default: `[assistantId, "filesystem"]` on a LangGraph server, else `["filesystem"]`. */
  namespace?: string[] | ((context: StoreBackendContext) => string[]);
  fileFormat?: "v1" | "v2";
}

/** Files in a LangGraph store, shared by all threads. */
export class StoreBackend extends ProtocolBackend {
  readonly #runtime: BackendRuntime | undefined;
  readonly #options: StoreBackendOptions;

  constructor(first: BackendRuntime | StoreBackendOptions = {}, options: StoreBackendOptions = {}) {
    super();
    const isRuntime = "state" in first;
    this.#runtime = isRuntime ? first : undefined;
    this.#options = isRuntime ? options : first;
  }

  [FILES](context?: BackendContext): FileBackend {
    const store = this.#options.store ?? context?.store ?? this.#runtime?.store ?? attempt(() => getStore());
    if (!store) {
      throw new HarnessError(
        "missing-setting",
        "StoreBackend has no store: give `store` to it or to createDeepAgent.",
      );
    }
    const { namespace } = this.#options;
    if (Array.isArray(namespace)) return storeBackend(store, namespace);
    const { metadata, configurable } = attempt(() => getConfig()) ?? {};
    const id = metadata?.["assistant_id"] as string | undefined;
    if (!namespace) return storeBackend(store, id === undefined ? ["filesystem"] : [id, "filesystem"]);
    return storeBackend(
      store,
      namespace({
        state: this.#runtime?.state ?? stateHere(),
        config: { metadata, configurable },
        assistantId: id,
      }),
    );
  }
}

/** Several backends as one. A path belongs to the route with the longest prefix, else to the main backend. */
export class CompositeBackend extends ProtocolBackend {
  readonly #main: AnyBackend;
  readonly #routes: Record<string, AnyBackend>;

  constructor(main: AnyBackend, routes: Record<string, AnyBackend>) {
    super();
    this.#main = main;
    this.#routes = routes;
  }

  /** True if the main backend runs commands. */
  get runsCommands(): boolean {
    return runsCommands(this.#main);
  }

  /** The id of the main backend; empty if it runs no commands. */
  get id(): string {
    return isSandboxBackend(this.#main) ? this.#main.id : "";
  }

  /** Runs a command in the main backend. */
  async execute(command: string): Promise<ExecuteResponse> {
    if (isSandboxBackend(this.#main)) return this.#main.execute(command);
    throw new HarnessError("invalid-options", "The main backend of this CompositeBackend runs no commands.");
  }

  [FILES](context?: BackendContext): FileBackend {
    const routes = Object.entries(this.#routes).map(([at, one]) => [at, filesOf(one, context)] as const);
    return compositeBackend(filesOf(this.#main, context), Object.fromEntries(routes));
  }
}

/** Seconds. */
const DEFAULT_TIMEOUT = 120;
/** The exit code of a command that reached its time limit, as of the program `timeout`. */
const TIMED_OUT = 124;

/** Options of `LocalShellBackend`. */
export interface LocalShellBackendOptions extends FilesystemBackendOptions {
  /** Seconds. Default 120. */
  timeout?: number;
  /** Default 100,000. */
  maxOutputBytes?: number;
  env?: Record<string, string>;
  /** Passes all variables of this process to commands. Default: a few that are no secrets, such as `PATH`. */
  inheritEnv?: boolean;
  /** Files that `create` writes. */
  initialFiles?: Record<string, string>;
  /** Not in DeepAgents: `auto` or `always` isolates commands. Default `never`. */
  isolation?: Isolation;
  /** Not in DeepAgents: whether isolated commands reach the network. Default false. */
  network?: boolean;
}

/** Files in a folder on disk, and commands there. */
export class LocalShellBackend extends FilesystemBackend {
  readonly id = `local-${randomUUID().slice(0, 8)}`;
  readonly #options: LocalShellBackendOptions;
  #isRunning = false;

  constructor(options: LocalShellBackendOptions = {}) {
    super(options, shellOf(options));
    this.#options = options;
  }

  static async create(options: LocalShellBackendOptions = {}): Promise<LocalShellBackend> {
    const backend = new LocalShellBackend(options);
    await backend.initialize();
    return backend;
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** The same. */
  get isInitialized(): boolean {
    return this.#isRunning;
  }

  /** Creates the folder and the initial files. */
  async initialize(): Promise<void> {
    const { rootDir = process.cwd(), initialFiles = {} } = this.#options;
    await mkdir(rootDir, { recursive: true });
    for (const [path, content] of Object.entries(initialFiles)) await this.write(path, content);
    this.#isRunning = true;
  }

  async close(): Promise<void> {
    this.#isRunning = false;
  }

  async execute(command: string): Promise<ExecuteResponse> {
    const result = await this[FILES]().execute!(command);
    if (!result.ok) return { output: result.error, exitCode: 1, truncated: false };
    const { output, exitCode, truncated, timedOut } = result;
    if (!timedOut) return { output, exitCode, truncated };
    const limit = `Error: Command timed out after ${this.#options.timeout ?? DEFAULT_TIMEOUT} seconds.`;
    return { output: [limit, output].filter(Boolean).join("\n"), exitCode: TIMED_OUT, truncated };
  }

  override glob(pattern: string, path = "/"): Promise<GlobResult> {
    return this.#options.virtualMode ? super.glob(pattern, path) : globEntries(this[FILES](), pattern, path);
  }
}

/** A sandbox whose subclass implements three methods. It needs a POSIX shell. */
export abstract class BaseSandbox extends ProtocolBackend {
  abstract readonly id: string;
  abstract execute(command: string): ExecuteResponse | Promise<ExecuteResponse>;
  abstract override uploadFiles(files: [string, Uint8Array][]): Promise<FileUploadResponse[]>;
  abstract override downloadFiles(paths: string[]): Promise<FileDownloadResponse[]>;

  [FILES](): FileBackend {
    return sandboxBackend(this, { root: "/" });
  }

  override glob(pattern: string, path = "/"): Promise<GlobResult> {
    return globEntries(this[FILES](), pattern, path);
  }
}

/** A backend of this module, or another one of DeepAgents' protocol. */
export type AnyBackend = ProtocolBackend | ForeignBackend | BackendProtocol;

/** Our backend for one of DeepAgents' protocol. Calls methods that a user's subclass overrides. */
export function filesOf(backend: AnyBackend, context?: BackendContext): FileBackend {
  if (backend instanceof BaseSandbox) return decoding(backend[FILES]());
  if (backend instanceof ProtocolBackend) {
    return OWN.includes(backend.constructor) ? decoding(backend[FILES](context)) : foreignFiles(backend);
  }
  return isSandbox(backend) ? decoding(sandboxBackend(backend, { root: "/" })) : foreignFiles(backend);
}

/** The backend with DeepAgents' writes of binary files: the text is their base64. */
export function decoding(files: FileBackend): FileBackend {
  return {
    ...files,
    write: (path, content) => {
      const bytes = bytesOf(path, content);
      return bytes ? files.writeBytes(path, bytes) : files.write(path, content);
    },
  };
}

const OWN: readonly unknown[] = [
  StateBackend,
  FilesystemBackend,
  StoreBackend,
  CompositeBackend,
  LocalShellBackend,
];

export function runsCommands(backend: AnyBackend): boolean {
  return backend instanceof CompositeBackend ? backend.runsCommands : "execute" in backend;
}

function isSandbox(backend: object): backend is RemoteSandbox {
  return ["execute", "uploadFiles", "downloadFiles"].every((name) => name in backend);
}

function diskOf({ rootDir = process.cwd(), maxFileSizeMb }: FilesystemBackendOptions): FileBackend {
  return diskBackend(rootDir, maxFileSizeMb === undefined ? {} : { maxBytes: maxFileSizeMb * 1024 * 1024 });
}

function shellOf(options: LocalShellBackendOptions): FileBackend {
  const { rootDir = process.cwd(), timeout = DEFAULT_TIMEOUT, maxOutputBytes = 100_000, env = {} } = options;
  const { maxFileSizeMb, isolation = "never", network = false } = options;
  return shellBackend(rootDir, {
    timeoutMs: timeout * 1000,
    maxOutput: maxOutputBytes,
    env,
    isolation,
    network,
    passEnv: options.inheritEnv ? Object.keys(process.env) : undefined,
    maxBytes: maxFileSizeMb === undefined ? undefined : maxFileSizeMb * 1024 * 1024,
  });
}

/** A glob with the result of the protocol's sandboxes: includes folders, and paths are relative to `path`. */
async function globEntries(files: FileBackend, pattern: string, path: string): Promise<GlobResult> {
  const at = (await files.locate?.(path)) ?? path;
  const base = `/${withoutSlashes(at.replace(/^\//, ""))}`;
  const compiled = compileGlob(pattern, base);
  if (!compiled.ok) return { error: compiled.error };
  const matches: FileInfo[] = [];
  const visit = async (folder: string): Promise<void> => {
    const listing = await files.list(folder);
    for (const { path: one, isDirectory } of listing.ok ? listing.entries : []) {
      const relativePath = under("", base, one).slice(1);
      if (compiled.glob.matches(one)) matches.push({ path: relativePath, is_dir: isDirectory });
      if (isDirectory) await visit(one);
    }
  };
  await visit(base);
  return { files: matches };
}

/** The store and configuration of the current run. */
export function runtimeHere(): { store?: BaseStore; configurable?: Record<string, unknown> } {
  const store = attempt(() => getStore());
  const configurable = attempt(() => getConfig())?.configurable;
  return { store, configurable };
}

/** The state of the current graph; undefined outside of a run. */
export function stateHere(): unknown {
  return attempt(() => getCurrentTaskInput());
}
