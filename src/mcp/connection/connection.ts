import type { CallToolResult, Client, Tool, Transport } from "@modelcontextprotocol/client";
import type { McpServer, McpSettings } from "../options.ts";
import { addressTransport } from "./address.ts";
import { formQuestion } from "./form.ts";
import { LiveCall } from "./live-call.ts";
import { Program } from "./program.ts";
import { loadSdk } from "./sdk.ts";
import type { Secrets } from "./secrets.ts";

const START_MS = 30_000;
const CALL_MS = 120_000;
/** More tools than this are no list but a flood. */
const MOST_TOOLS = 1000;

interface Open {
  client: Client;
  /** The server's output that was no message. */
  said: () => string;
  tools: Tool[];
  /** The server said that its tools are others now. */
  isStale: boolean;
  isClosed: boolean;
}

export interface ConnectionOptions {
  name: string;
  server: McpServer;
  settings: McpSettings;
  secrets: Secrets;
}

/** One server. It is connected to when it is needed, and again once when it has gone. */
export class Connection {
  readonly name: string;
  readonly #options: ConnectionOptions;
  #opening: Promise<Open> | undefined;
  #current: Open | undefined;
  /** The calls that are under way, each with its thread. */
  readonly #refused = new Set<string>();
  readonly #live = new Map<LiveCall, unknown>();

  constructor(options: ConnectionOptions) {
    this.name = options.name;
    this.#options = options;
  }

  /** Its tools as it lists them now. Throws, in words for people, when it cannot be used. */
  async tools(): Promise<readonly Tool[]> {
    const open = await this.#open();
    if (open.isStale) {
      open.isStale = false;
      open.tools = await listed(open.client, this.#startMs);
    }
    return open.tools;
  }

  /** Begins a call of a thread. What it fails with is in words for a model. */
  call(tool: string, args: Record<string, unknown>, thread: unknown): LiveCall {
    const { server, settings } = this.#options;
    const silence = server.timeout ?? settings.callTimeoutMs ?? CALL_MS;
    const live: LiveCall = new LiveCall(async ({ signal, onprogress }) => {
      try {
        return await this.#request({ name: tool, arguments: args }, { signal, onprogress });
      } finally {
        this.#live.delete(live);
      }
    }, silence);
    this.#live.set(live, thread);
    return live;
  }

  /** The names of tools that were listed in a form that is no tool's. */
  get refused(): ReadonlySet<string> {
    return this.#refused;
  }

  /** Whether calls are under way. */
  get isBusy(): boolean {
    return this.#live.size > 0;
  }

  async close(): Promise<void> {
    const opening = this.#opening;
    this.#opening = this.#current = undefined;
    for (const live of this.#live.keys()) live.cancel(new Error("The server was closed."));
    const open = await opening?.catch(() => undefined);
    await open?.client.close().catch(() => {});
  }

  get #startMs(): number {
    return this.#options.settings.startTimeoutMs ?? START_MS;
  }

  async #request(
    call: { name: string; arguments: Record<string, unknown> },
    options: { signal: AbortSignal; onprogress: () => void },
    isRepeated = false,
  ): Promise<CallToolResult> {
    const open = await this.#open().catch((error: unknown) => {
      throw new Error(`The server ${this.name} is not there: ${messageOf(error)}`, { cause: error });
    });
    try {
      // The time limit is the call's own, as it stands still while a person is asked.
      const limits = { ...options, timeout: 2 ** 31 - 1, resetTimeoutOnProgress: true };
      return await open.client.callTool(call, limits);
    } catch (error) {
      if (options.signal.aborted) throw reasonOf(options.signal);
      if (isSessionGone(error) && !isRepeated) {
        // It has not begun the call: a new session can.
        await open.client.close().catch(() => {});
        return this.#request(call, options, true);
      }
      const isGone = open.isClosed || GONE.includes((error as { code?: unknown }).code);
      const what = isGone
        ? `The server ${this.name} ended during the call, and what the call has done is not known. Another call starts it again.`
        : messageOf(error);
      throw new Error(this.#withSaid(what, isGone ? open.said() : ""), { cause: error });
    }
  }

  #open(): Promise<Open> {
    this.#opening ??= this.#connect().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  async #connect(): Promise<Open> {
    const { server, settings } = this.#options;
    const sdk = await loadSdk();
    const asks = settings.questions !== false;
    const client = new sdk.Client(
      { name: "holdfast", version: "1" },
      {
        capabilities: asks ? { elicitation: { form: {} } } : {},
        // A probe would cost a program's old server a time limit.
        versionNegotiation: { mode: "command" in server ? "legacy" : "auto" },
        // Results are data for a model; a server's own schemas are not compiled here.
        jsonSchemaValidator: {
          getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
        },
      },
    );
    const program = "command" in server ? new Program(server, settings.dir ?? process.cwd()) : undefined;
    const transport: Transport =
      program ?? addressTransport(server as never, { sdk, auth: settings.auth?.(this.name) });
    const open: Open = {
      client,
      said: () => program?.said ?? "",
      tools: [],
      isStale: false,
      isClosed: false,
    };
    if (asks) {
      client.setRequestHandler("elicitation/create", async ({ params }) => {
        const [live] = this.#live.keys();
        // Which call a question belongs to is not said: nobody is asked for what may be another thread's.
        const isClear = new Set(this.#live.values()).size === 1;
        return live && isClear ? live.ask(formQuestion(this.name, params)) : { action: "decline" };
      });
    }
    client.setNotificationHandler("notifications/tools/list_changed", () => void (open.isStale = true));
    const onclose = (): void => {
      open.isClosed = true;
      if (this.#current === open) this.#opening = this.#current = undefined;
    };
    // Whatever matters of an error fails a request.
    Object.assign(client, { onclose, onerror: () => {} });
    try {
      await inTime(
        (async () => {
          await client.connect(transport, { timeout: this.#startMs });
          const deliver = transport.onmessage;
          const onmessage: Transport["onmessage"] = (message, extra) => {
            this.#leaveOut(message, sdk.isSpecType.Tool);
            deliver?.(message, extra);
          };
          Object.assign(transport, { onmessage });
          open.tools = await listed(client, this.#startMs);
        })(),
        this.#startMs,
      );
      if (open.isClosed) throw new Error("It has ended.");
      this.#current = open;
      return open;
    } catch (error) {
      await transport.close().catch(() => {});
      throw new Error(this.#withSaid(messageOf(error), open.said()), { cause: error });
    }
  }

  /** Takes out of a list what is no tool: the client would refuse the whole list. */
  #leaveOut(message: object, isTool: (value: unknown) => boolean): void {
    const { result } = message as { result?: { tools?: unknown } };
    if (!result || !Array.isArray(result.tools)) return;
    const [good, bad] = [true, false].map((wanted) =>
      (result.tools as unknown[]).filter((tool) => isTool(tool) === wanted),
    ) as [unknown[], unknown[]];
    result.tools = good;
    for (const tool of bad.slice(0, MOST_TOOLS)) {
      const { name } = (tool ?? {}) as { name?: unknown };
      this.#refused.add(typeof name === "string" ? name.slice(0, 64) : "without a name");
    }
  }

  #withSaid(text: string, said: string): string {
    const { secrets } = this.#options;
    return secrets.hide(said === "" ? text : `${text.replace(/(?<![.!?])$/, ".")} It said: ${said}`);
  }
}

async function listed(client: Client, timeout: number): Promise<Tool[]> {
  if (!client.getServerCapabilities()?.tools) return [];
  const { tools } = await client.listTools(undefined, { timeout });
  return tools.slice(0, MOST_TOOLS).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

async function inTime(work: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`It did not start within ${ms / 1000} s.`)), ms);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    work.catch(() => {});
  }
}

/** The client's error codes for a server that is gone. */
const GONE: readonly unknown[] = ["CONNECTION_CLOSED", "NOT_CONNECTED"];

/** A server that was started again does not know the session of the one before. */
function isSessionGone(error: unknown): boolean {
  return (error as { status?: unknown }).status === 404;
}

function reasonOf({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}

/** An error's message with its cause: "fetch failed" alone explains nothing. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? error.cause.message : "";
  return cause === "" || error.message.includes(cause) ? error.message : `${error.message} (${cause})`;
}
