import { HarnessError } from "../../../errors.ts";
import type { HostedThread, ThreadStore, ThreadSummary } from "../../../storage/index.ts";
import type { Host } from "../../../threads/host/index.ts";
import { isThreadId } from "../../../threads/thread/index.ts";
import { refuse } from "./answers.ts";
import type { ServerContext } from "./context.ts";
import { OWN_NAME, ownName } from "./own-names.ts";

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

type ThreadNote = Omit<Parameters<Host["noteThread"]>[1], "owner">;

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

  /**
   * The thread that a request names, and its id, also of one that is not there yet. A name that somebody else has stands
   * for a thread of the sender's own. Answers 422 for what is no name.
   */
  async resolve(c: ServerContext, name: string): Promise<{ id: string; known?: KnownThread }> {
    const user = c.get("user");
    const found = await this.#known(name);
    if (found && (await this.isVisible(user, found))) return { id: name, known: found };
    if (!found && (!isThreadId(name) || OWN_NAME.test(name))) {
      refuse(422, "A thread is named with letters, digits, dots, _ and -, up to 100 of them.");
    }
    if (!this.#auth || user === undefined) return { id: name };
    const own = ownName(user, name);
    const theirs = await this.#known(own);
    if (theirs && (await this.isVisible(user, theirs))) return { id: own, known: theirs };
    return { id: found ? own : name };
  }

  /** The same, made known as the sender's where nobody has it; `note` says more of a new one. */
  async claim(
    c: ServerContext,
    name: string,
    note: ThreadNote = {},
  ): Promise<{ isNew: boolean; known: KnownThread }> {
    const owner = c.get("user");
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const { id, known } = await this.resolve(c, name);
      if (known) return { isNew: tries > 0, known };
      // Another may be faster: then there is one of the sender's own.
      await this.#host
        .noteThread(id, { ...note, ...(owner !== undefined && { owner }) })
        .catch((error: unknown) => {
          if (HarnessError.from(error)?.code !== "not-found") throw error;
        });
    }
    missing(name);
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

  /** The thread that a request names. Answers 404 where there is none, or it is somebody else's. */
  async thread(c: ServerContext, id = c.req.param("thread") ?? ""): Promise<KnownThread> {
    const { known } = await this.resolve(c, id);
    if (!known) missing(id);
    return known;
  }

  /** The visible ones of some threads, each looked up by itself. */
  async named(c: ServerContext, names: readonly string[]): Promise<KnownThread[]> {
    const found = await Promise.all(names.map((name) => this.resolve(c, name).catch(() => undefined)));
    return found.flatMap((one) => one?.known ?? []);
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
/** The name itself, one of the sender's own, and once more to read it. */
const MOST_TRIES = 3;

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

function missing(id: string): never {
  refuse(404, `Thread with ID ${id} not found`);
}
