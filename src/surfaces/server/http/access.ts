import { HarnessError } from "../../../errors.ts";
import type { HostedThread, ThreadStore, ThreadSummary } from "../../../storage/index.ts";
import type { Host, ThreadNote } from "../../../threads/host/index.ts";
import { isThreadId } from "../../../threads/thread/index.ts";
import { refuse } from "./answers.ts";
import type { ServerContext } from "./context.ts";
import { PRIVATE_ID, privateId } from "./private-ids.ts";

/** The sender of a request. */
export interface User {
  id: string;
}

/** Authentication of a server's users. */
export interface Auth {
  /** Returns the sender of a request; undefined refuses the request. */
  authenticate: (request: Request) => User | undefined | Promise<User | undefined>;
  /** Whether a user may see and use a thread. Default: the threads that they started. */
  mayUse?: (user: User, thread: { id: string; owner?: string; metadata: Record<string, unknown> }) => boolean;
}

/** A thread with its ledger entry and the summary of its checkpoints. */
export interface ThreadInfo {
  id: string;
  hosted?: HostedThread;
  summary?: ThreadSummary;
}

/** Methods of Holdfast's stores beyond LangGraph's interface. */
type ThreadIndex = Partial<Pick<ThreadStore, "getThread" | "listThreads">>;

/** Looks up threads for every route, and checks that the user may see them. */
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
   * The thread that a request names, and its id, also for a thread that does not exist yet. If the name belongs to another
   * user, the sender gets a private id. Answers 422 for an invalid name.
   */
  async resolve(c: ServerContext, name: string): Promise<{ id: string; info?: ThreadInfo }> {
    const user = c.get("user");
    const named = await this.#info(name);
    if (named && (await this.isVisible(user, named))) return { id: name, info: named };
    if (!named && (!isThreadId(name) || PRIVATE_ID.test(name))) {
      refuse(422, "A thread name has up to 100 letters, digits, dots, _ and -.");
    }
    if (!this.#auth || user === undefined) return { id: name };
    const id = privateId(user, name);
    const own = await this.#info(id);
    if (own && (await this.isVisible(user, own))) return { id, info: own };
    return { id: named ? id : name };
  }

  /** Resolves a name, and creates the thread for the sender if nobody has it; `note` is its ledger entry. */
  async claim(
    c: ServerContext,
    name: string,
    note: Omit<ThreadNote, "owner"> = {},
  ): Promise<{ isNew: boolean; info: ThreadInfo }> {
    const owner = c.get("user");
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const { id, info } = await this.resolve(c, name);
      if (info) return { isNew: tries > 0, info };
      // If another user takes the name first, the next try resolves it to a private id.
      await this.#host
        .noteThread(id, { ...note, ...(owner !== undefined && { owner }) })
        .catch((error: unknown) => {
          if (HarnessError.from(error)?.code !== "not-found") throw error;
        });
    }
    missing(name);
  }

  /** A thread that a user may see; undefined if it was removed or now belongs to another user. */
  async visible(user: string | undefined, id: string): Promise<ThreadInfo | undefined> {
    const info = await this.#info(id);
    return info && (await this.isVisible(user, info)) ? info : undefined;
  }

  async #info(id: string): Promise<ThreadInfo | undefined> {
    const summary = await this.#index.getThread?.(id);
    const hosted = await this.#host.ledger.thread(id);
    return summary || hosted ? { id, ...(hosted && { hosted }), ...(summary && { summary }) } : undefined;
  }

  /** The thread that a request names. Answers 404 if it does not exist or belongs to another user. */
  async thread(c: ServerContext, id = c.req.param("thread") ?? ""): Promise<ThreadInfo> {
    const { info } = await this.resolve(c, id);
    if (!info) missing(id);
    return info;
  }

  /** The visible threads among some names. */
  async named(c: ServerContext, names: readonly string[]): Promise<ThreadInfo[]> {
    const threads = await Promise.all(names.map((name) => this.resolve(c, name).catch(() => undefined)));
    return threads.flatMap((thread) => thread?.info ?? []);
  }

  /** All threads that a user may see, last used first. */
  async threads(user: string | undefined): Promise<ThreadInfo[]> {
    const summaries = (await this.#index.listThreads?.({ limit: ALL })) ?? [];
    const threads = new Map<string, ThreadInfo>();
    for (const hosted of await this.#host.ledger.threads()) threads.set(hosted.id, { id: hosted.id, hosted });
    for (const summary of summaries)
      threads.set(summary.id, { ...threads.get(summary.id), id: summary.id, summary });
    const all = [...threads.values()];
    const visible = await Promise.all(all.map((thread) => this.isVisible(user, thread)));
    return all.filter((_, at) => visible[at]).toSorted((a, b) => updatedAt(b) - updatedAt(a));
  }

  async isVisible(user: string | undefined, { id, hosted }: ThreadInfo): Promise<boolean> {
    return this.mayUse(user, { id, owner: hosted?.owner, metadata: hosted?.metadata ?? {} });
  }

  /** Whether a user may see a thread. Looks `metadata` up if it is absent and the rule needs it. */
  async mayUse(
    user: string | undefined,
    { id, owner, metadata }: { id: string; owner: string | undefined; metadata?: Record<string, unknown> },
  ): Promise<boolean> {
    if (!this.#auth) return true;
    if (user === undefined) return false;
    if (!this.#auth.mayUse) return owner === user;
    const fields = metadata ?? (await this.#host.ledger.thread(id))?.metadata ?? {};
    return this.#auth.mayUse({ id: user }, { id, metadata: fields, ...(owner !== undefined && { owner }) });
  }
}

const ALL = 100_000;
/** The name itself, the sender's private id, and once more to read it. */
const MOST_TRIES = 3;

export function updatedAt({ hosted, summary }: ThreadInfo): number {
  return Math.max(hosted?.updatedAt ?? 0, summary?.updatedAt.getTime() ?? 0);
}

/** The time of the last checkpoint; `updatedAt` if there is none. */
export function stateUpdatedAt(info: ThreadInfo): number {
  return info.summary?.updatedAt.getTime() ?? updatedAt(info);
}

/** Whether the last run failed, and no other process has continued the thread since. */
export function hasFailed({ hosted, summary }: ThreadInfo): boolean {
  return hosted?.hasFailed === true && (summary?.updatedAt.getTime() ?? 0) <= hosted.updatedAt;
}

export function createdAt({ hosted, summary }: ThreadInfo): number {
  return Math.min(hosted?.createdAt ?? Infinity, summary?.createdAt.getTime() ?? Infinity);
}

function missing(id: string): never {
  refuse(404, `Thread with ID ${id} not found`);
}
