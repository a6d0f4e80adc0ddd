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
/** The number of tools that are used of a server, and of invalid ones that are reported. */
const MAX_TOOLS = 1000;

interface Session {
  client: Client;
  /** Returns the end of the server's output next to messages. */
  output: () => string;
  tools: Tool[];
  /** Whether the server has announced a change of its tools. */
  isStale: boolean;
  isClosed: boolean;
}

interface ConnectionOptions {
  name: string;
  server: McpServer;
  settings: McpSettings;
  secrets: Secrets;
}

/** A connection to one server, which is opened on demand, and opened again after the server has ended. */
export class Connection {
  readonly name: string;
  readonly #options: ConnectionOptions;
  #opening: Promise<Session> | undefined;
  #current: Session | undefined;
  readonly #refused = new Set<string>();
  /** The calls running, each with its thread. */
  readonly #calls = new Map<LiveCall, unknown>();

  constructor(options: ConnectionOptions) {
    this.name = options.name;
    this.#options = options;
  }

  /** The server's tools at this moment. Throws an error for users when the server cannot be used. */
  async tools(): Promise<readonly Tool[]> {
    const session = await this.#open();
    if (session.isStale) {
      session.isStale = false;
      session.tools = await listTools(session.client, this.#startMs);
    }
    return session.tools;
  }

  /** Begins a call of a thread. Its errors are for a model. */
  call(tool: string, args: Record<string, unknown>, thread: unknown): LiveCall {
    const { server, settings } = this.#options;
    const silence = server.timeout ?? settings.callTimeoutMs ?? CALL_MS;
    const live: LiveCall = new LiveCall(async ({ signal, onprogress }) => {
      try {
        return await this.#request({ name: tool, arguments: args }, { signal, onprogress });
      } finally {
        this.#calls.delete(live);
      }
    }, silence);
    this.#calls.set(live, thread);
    return live;
  }

  /** The names of listed tools that are not valid. */
  get refused(): ReadonlySet<string> {
    return this.#refused;
  }

  get isBusy(): boolean {
    return this.#calls.size > 0;
  }

  async close(): Promise<void> {
    const opening = this.#opening;
    this.#opening = this.#current = undefined;
    for (const live of this.#calls.keys()) live.cancel(new Error("The server was closed."));
    const session = await opening?.catch(() => undefined);
    await session?.client.close().catch(() => {});
  }

  get #startMs(): number {
    return this.#options.settings.startTimeoutMs ?? START_MS;
  }

  async #request(
    call: { name: string; arguments: Record<string, unknown> },
    options: { signal: AbortSignal; onprogress: () => void },
    isRepeated = false,
  ): Promise<CallToolResult> {
    const session = await this.#open().catch((error: unknown) => {
      throw new Error(`The server ${this.name} is not there: ${messageOf(error)}`, { cause: error });
    });
    try {
      // `LiveCall` has the time limit, which is suspended while the user is asked.
      const limits = { ...options, timeout: 2 ** 31 - 1, resetTimeoutOnProgress: true };
      return await session.client.callTool(call, limits);
    } catch (error) {
      if (options.signal.aborted) throw reasonOf(options.signal);
      if (isSessionGone(error) && !isRepeated) {
        // The server has not started the call, so a new session can make it.
        await session.client.close().catch(() => {});
        return this.#request(call, options, true);
      }
      const isGone = session.isClosed || GONE.includes((error as { code?: unknown }).code);
      const what = isGone
        ? `The server ${this.name} ended during the call, and what the call has done is not known. Another call starts it again.`
        : messageOf(error);
      throw new Error(this.#withOutput(what, isGone ? session.output() : ""), { cause: error });
    }
  }

  #open(): Promise<Session> {
    this.#opening ??= this.#connect().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  async #connect(): Promise<Session> {
    const { server, settings } = this.#options;
    const sdk = await loadSdk();
    const isAsking = settings.questions !== false;
    const client = new sdk.Client(
      { name: "holdfast", version: "1" },
      {
        capabilities: isAsking ? { elicitation: { form: {} } } : {},
        // With an old server that is a program, a probe would wait for its time limit.
        versionNegotiation: { mode: "command" in server ? "legacy" : "auto" },
        // Results are data for a model, so the server's schemas are not compiled.
        jsonSchemaValidator: {
          getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
        },
      },
    );
    const program = "command" in server ? new Program(server, settings.dir ?? process.cwd()) : undefined;
    const transport: Transport =
      program ?? addressTransport(server as never, { sdk, auth: settings.auth?.(this.name) });
    const session: Session = {
      client,
      output: () => program?.output ?? "",
      tools: [],
      isStale: false,
      isClosed: false,
    };
    if (isAsking) {
      client.setRequestHandler("elicitation/create", async ({ params }) => {
        const [live] = this.#calls.keys();
        // A question does not name its call: with calls of several threads, it is not asked.
        const isClear = new Set(this.#calls.values()).size === 1;
        return live && isClear ? live.ask(formQuestion(this.name, params)) : { action: "decline" };
      });
    }
    client.setNotificationHandler("notifications/tools/list_changed", () => void (session.isStale = true));
    const onclose = (): void => {
      session.isClosed = true;
      if (this.#current === session) this.#opening = this.#current = undefined;
    };
    // An error that matters also fails a request.
    Object.assign(client, { onclose, onerror: () => {} });
    try {
      await withTimeout(
        (async () => {
          await client.connect(transport, { timeout: this.#startMs });
          const deliver = transport.onmessage;
          const onmessage: Transport["onmessage"] = (message, extra) => {
            this.#removeInvalidTools(message, sdk.isSpecType.Tool);
            deliver?.(message, extra);
          };
          Object.assign(transport, { onmessage });
          session.tools = await listTools(client, this.#startMs);
        })(),
        this.#startMs,
      );
      if (session.isClosed) throw new Error("It has ended.");
      this.#current = session;
      return session;
    } catch (error) {
      await transport.close().catch(() => {});
      throw new Error(this.#withOutput(messageOf(error), session.output()), { cause: error });
    }
  }

  /** Removes invalid tools from a list: the client would refuse the whole list. */
  #removeInvalidTools(message: object, isTool: (value: unknown) => boolean): void {
    const { result } = message as { result?: { tools?: unknown } };
    if (!result || !Array.isArray(result.tools)) return;
    const tools: unknown[] = result.tools;
    result.tools = tools.filter((tool) => isTool(tool));
    for (const tool of tools.filter((each) => !isTool(each)).slice(0, MAX_TOOLS)) {
      const { name } = (tool ?? {}) as { name?: unknown };
      this.#refused.add(typeof name === "string" ? name.slice(0, 64) : "without a name");
    }
  }

  #withOutput(text: string, output: string): string {
    const { secrets } = this.#options;
    return secrets.hide(output === "" ? text : `${text.replace(/(?<![.!?])$/, ".")} It said: ${output}`);
  }
}

async function listTools(client: Client, timeout: number): Promise<Tool[]> {
  if (!client.getServerCapabilities()?.tools) return [];
  const { tools } = await client.listTools(undefined, { timeout });
  return tools.slice(0, MAX_TOOLS).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

async function withTimeout(work: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`It did not start within ${ms / 1000} s.`)), ms);
  });
  try {
    await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
    work.catch(() => {});
  }
}

/** The client's error codes for a server that is gone. */
const GONE: readonly unknown[] = ["CONNECTION_CLOSED", "NOT_CONNECTED"];

/** Whether a server does not know the session, because it was started again. */
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
