import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import type {
  Checkpoint,
  FileVersions,
  Question,
  Settings,
  StampedEvent,
  Thread,
  ThreadContent,
} from "../../../web/src/client/contract.ts";

export const TOKEN = "a-key-for-tests";

/** What the real server sends with the page, too. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
};

interface Told {
  n: number;
  event: string;
  data: unknown;
}

/** A thread as a test writes it. */
export interface ThreadEvents {
  thread: Thread;
  events: StampedEvent[];
  settings?: Settings;
  questions?: Question[];
  kept?: string[];
  files?: readonly FileVersions[];
  checkpoints?: readonly Checkpoint[];
}

export interface Asked {
  method: string;
  path: string;
  body: unknown;
}

/** An answer that a test gives in the place of the usual one. */
type Reply = { status: number; body: object };

/**
 * Speaks the page's routes and says what a test wants it to say: for states that a real server cannot be brought to at
 * will, such as lost connections, hostile text and edits at the same moment.
 */
export class StandIn {
  readonly threads = new Map<string, ThreadEvents>();
  readonly asked: Asked[] = [];
  /** Answers by `METHOD path`, used once each. */
  readonly replies = new Map<string, Reply[]>();
  /** How many threads and checkpoints it shows at once. */
  pageSize = 50;
  /** How many streams are open. */
  get streams(): number {
    return this.#streams.size;
  }
  #isDown = false;
  #n = 0;
  readonly #log: Told[] = [];
  readonly #held = new Map<string, Promise<void>>();
  readonly #streams = new Set<ServerResponse>();
  readonly #server = createServer((request, response) => {
    this.#answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  add(told: ThreadEvents): void {
    this.threads.set(told.thread.id, told);
  }

  /** A live event of a thread. */
  tell(event: StampedEvent): void {
    const stamped = { ...event, n: this.#n + 1 };
    this.threads.get(event.thread)?.events.push(stamped);
    this.send("run", stamped);
  }

  send(event: string, data: unknown): void {
    const told = { n: ++this.#n, event, data };
    this.#log.push(told);
    for (const stream of this.#streams) write(stream, told);
  }

  /** Cuts every stream, and takes no request until `back`. */
  drop(): void {
    this.#isDown = true;
    for (const stream of this.#streams) stream.destroy();
  }

  back(): void {
    this.#isDown = false;
  }

  /** Keeps the answers to `METHOD path` back until they are released. */
  hold(route: string): () => void {
    let release!: () => void;
    this.#held.set(route, new Promise((resolve) => (release = resolve)));
    return release;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://page");
    if (this.#isDown) return void response.destroy();
    if (!pathname.startsWith("/holdfast/")) return serveFile(pathname, response);
    if (request.headers.authorization !== `Bearer ${TOKEN}`) {
      return json(response, 401, { error: "unauthorized", message: "The key is missing or wrong." });
    }
    const body = await bodyOf(request);
    const path = pathname.slice("/holdfast/".length);
    const method = request.method ?? "GET";
    if (method !== "GET") this.asked.push({ method, path, body });
    const given = this.replies.get(`${method} ${path}`)?.shift();
    if (given) return json(response, given.status, given.body);
    if (path === "events") {
      await this.#held.get("GET events");
      return this.#stream(request, response);
    }
    const { status, body: answer } = this.#reply(method, path, searchParams);
    await this.#held.get(`${method} ${path}`);
    json(response, status, answer);
  }

  #reply(method: string, path: string, search: URLSearchParams): Reply {
    if (path === "info") {
      return ok({ version: "0.0.0", model: "offline", dir: "/home/u/project", defaults: {} });
    }
    if (path === "threads") {
      const threads = [...this.threads.values()].map(({ thread }) => thread);
      const [first] = threads;
      if (method === "POST") return { status: 201, body: { thread: first, run: "r1" } };
      const sorted = threads.toSorted((a, b) => b.updatedAt - a.updatedAt);
      const from = sorted.findIndex(({ id }) => id === search.get("before")) + 1;
      const page = sorted.slice(from, from + this.pageSize);
      return ok({ threads: page, more: from + page.length < sorted.length });
    }
    const [, id = "", route = "", ...rest] = path.split("/").map(decodeURIComponent);
    const told = this.threads.get(id);
    if (!told) return { status: 404, body: { error: "not-found", message: "There is no such thread." } };
    const { files = [], checkpoints = [] } = told;
    switch (route) {
      case "":
        return method === "DELETE" ? { status: 204, body: {} } : ok(this.#content(told));
      case "files":
        return ok({
          files: files.map(({ path: name }) => ({ path: name, added: 2, removed: 1, kind: "changed" })),
        });
      case "file": {
        const found = files.find(({ path: name }) => name === search.get("path"));
        return found
          ? ok(found)
          : { status: 404, body: { error: "not-found", message: "There is no such file." } };
      }
      case "history":
        return ok(this.#history(checkpoints.toReversed(), search.get("before")));
      case "checkpoints": {
        const at = checkpoints.find((checkpoint) => checkpoint.id === rest[0])?.at ?? 0;
        const events = told.events.filter((event) => event.at <= at);
        return ok({ ...this.#content(told), events, questions: [] });
      }
      case "fork":
        return { status: 201, body: { thread: told.thread } };
      case "stop":
        return ok({ stopped: true });
      default:
        return { status: 202, body: { run: "r2" } };
    }
  }

  #history(newestFirst: readonly Checkpoint[], before: string | null): object {
    const from = newestFirst.findIndex(({ id }) => id === before) + 1;
    const checkpoints = newestFirst.slice(from, from + this.pageSize);
    return { checkpoints, more: from + checkpoints.length < newestFirst.length };
  }

  #content({ thread, events, questions = [], settings = {}, kept = [] }: ThreadEvents): ThreadContent {
    return { thread, settings: { model: "offline", ...settings }, questions, kept, events, last: this.#n };
  }

  #stream(request: IncomingMessage, response: ServerResponse): void {
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    response.write(": hello\n\n");
    const last = request.headers["last-event-id"];
    const missed = last === undefined ? [] : this.#log.filter(({ n }) => n > Number(last));
    if (last === undefined) write(response, { n: this.#n, event: "start", data: {} });
    for (const told of missed) write(response, told);
    this.#streams.add(response);
    response.on("close", () => this.#streams.delete(response));
  }
}

function ok(body: object): Reply {
  return { status: 200, body };
}

function write(stream: ServerResponse, { n, event, data }: Told): void {
  stream.write(`id: ${n}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(status === 204 ? "" : JSON.stringify(body));
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  return text === "" ? undefined : JSON.parse(text);
}

function serveFile(pathname: string, response: ServerResponse): void {
  const file = join("dist/page", pathname === "/" ? "index.html" : pathname);
  response.writeHead(200, {
    "content-type": TYPES[extname(file)] ?? "application/octet-stream",
    "content-security-policy": POLICY,
  });
  response.end(readFileSync(file));
}
