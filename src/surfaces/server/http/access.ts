import { HTTPException } from "hono/http-exception";
import type { HostedThread, ThreadStore, ThreadSummary } from "../../../storage/index.ts";
import type { Host } from "../../../threads/host/client.ts";
import { isThreadId } from "../../../threads/thread/thread-ids.ts";
import type { ServerContext } from "./context.ts";

/** The sender of a request. */
export interface User {
  id: string;
}

/** Authentication of a server's users. */
export interface Auth {
  /** Returns the sender of a request; undefined if the sender may not use the server. */
  authenticate: (request: Request) => User | undefined | Promise<User | undefined>;
  /** Whether somebody may see and use a thread. By default those that they started. */
  mayUse?: (user: User, thread: { id: string; owner?: string; metadata: Record<string, unknown> }) => boolean;
}

/** A thread as it is listed: what a server knows of it, and what its checkpoints say. */
export interface KnownThread {
  id: string;
  hosted?: HostedThread;
  summary?: ThreadSummary;
}

/** Methods of Holdfast's stores beyond LangGraph's interface. */
type ThreadIndex = Partial<Pick<ThreadStore, "getThread" | "listThreads">>;

/** The threads of each user. Every route finds its threads here. */
export class Access {
  readonly #host: Host;
  readonly #auth: Auth | undefined;
  readonly #index: ThreadIndex;

  constructor(host: Host, auth: Auth | undefined) {
    this.#host = host;
    this.#auth = auth;
    this.#index = host.checkpointer as ThreadIndex;
  }

  /** The thread that a request names, new or not. Answers 404 for one of somebody else, and 422 for what is no name. */
  async find(c: ServerContext, id: string): Promise<KnownThread | undefined> {
    const known = await this.#known(id);
    if (!known) {
      if (isThreadId(id)) return undefined;
      throw new HTTPException(422, {
        message: "A thread is named with letters, digits, dots, _ and -, up to 100 of them.",
      });
    }
    if (!(await this.isVisible(c.get("user"), known))) throw missing(id);
    return known;
  }

  /** A thread that somebody may see; undefined for one that is gone, or has become somebody else's. */
  async visible(user: string | undefined, id: string): Promise<KnownThread | undefined> {
    const known = await this.#known(id);
    return known && (await this.isVisible(user, known)) ? known : undefined;
  }

  async #known(id: string): Promise<KnownThread | undefined> {
    const summary = await this.#index.getThread?.(id);
    const hosted = await this.#host.ledger.thread(id);
    return summary || hosted ? { id, ...(hosted && { hosted }), ...(summary && { summary }) } : undefined;
  }

  /** The same, where there must be one. */
  async thread(c: ServerContext, id = c.req.param("thread") ?? ""): Promise<KnownThread> {
    const found = await this.find(c, id);
    if (!found) throw missing(id);
    return found;
  }

  /** The visible ones of some threads, each looked up by itself. */
  async named(user: string | undefined, ids: readonly string[]): Promise<KnownThread[]> {
    const found = await Promise.all(ids.map((id) => this.visible(user, id)));
    return found.filter((known) => known !== undefined);
  }

  /** All threads that somebody may see, last used first. */
  async threads(user: string | undefined): Promise<KnownThread[]> {
    const summaries = (await this.#index.listThreads?.({ limit: ALL })) ?? [];
    const known = new Map<string, KnownThread>();
    for (const hosted of await this.#host.ledger.threads()) known.set(hosted.id, { id: hosted.id, hosted });
    for (const summary of summaries)
      known.set(summary.id, { ...known.get(summary.id), id: summary.id, summary });
    const all = [...known.values()];
    const visible = await Promise.all(all.map((thread) => this.isVisible(user, thread)));
    return all.filter((_, at) => visible[at]).toSorted((a, b) => updatedAt(b) - updatedAt(a));
  }

  async isVisible(user: string | undefined, { id, hosted }: KnownThread): Promise<boolean> {
    return this.mayUse(user, { id, owner: hosted?.owner, metadata: hosted?.metadata ?? {} });
  }

  /** Where `metadata` is not at hand it is looked up, if it is of use. */
  async mayUse(
    user: string | undefined,
    { id, owner, metadata }: { id: string; owner: string | undefined; metadata?: Record<string, unknown> },
  ): Promise<boolean> {
    if (!this.#auth) return true;
    if (user === undefined) return false;
    if (!this.#auth.mayUse) return owner === user;
    const known = metadata ?? (await this.#host.ledger.thread(id))?.metadata ?? {};
    return this.#auth.mayUse({ id: user }, { id, metadata: known, ...(owner !== undefined && { owner }) });
  }
}

const ALL = 100_000;

export function updatedAt({ hosted, summary }: KnownThread): number {
  return Math.max(hosted?.updatedAt ?? 0, summary?.updatedAt.getTime() ?? 0);
}

/** When its checkpoints changed last, where that is known. */
export function stateUpdatedAt(known: KnownThread): number {
  return known.summary?.updatedAt.getTime() ?? updatedAt(known);
}

/** Whether its last run failed here, and no other process has gone on with it since. */
export function hasFailed({ hosted, summary }: KnownThread): boolean {
  return hosted?.hasFailed === true && (summary?.updatedAt.getTime() ?? 0) <= hosted.updatedAt;
}

export function createdAt({ hosted, summary }: KnownThread): number {
  return Math.min(hosted?.createdAt ?? Infinity, summary?.createdAt.getTime() ?? Infinity);
}

function missing(id: string): HTTPException {
  return new HTTPException(404, { message: `Thread with ID ${id} not found` });
}
