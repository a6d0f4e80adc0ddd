import { setImmediate } from "node:timers/promises";
import { HarnessError } from "../../../errors.ts";
import type { HostedThread, ThreadStore, ThreadSummary } from "../../../storage/index.ts";
import type { Host, ThreadNote } from "../../../threads/host/index.ts";
import { isThreadId } from "../../../threads/thread/index.ts";
import { refuse } from "./answers.ts";
import { checkId } from "./body.ts";
import type { ServerContext } from "./context.ts";
import { PRIVATE_ID, privateId } from "./private-ids.ts";
import { filterInTurns, mapInTurns } from "./turns.ts";

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
type ThreadIndex = Partial<Pick<ThreadStore, "listThreads">>;

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
    checkId(name);
    const user = c.get("user");
    const infos = await this.#infos(this.#idsFor(user, name));
    const info = await this.#chosen(user, name, infos);
    if (info) return { id: info.id, info };
    if (!infos.has(name) && (!isThreadId(name) || PRIVATE_ID.test(name))) {
      refuse(422, "A thread name has up to 100 letters, digits, dots, _ and -.");
    }
    return { id: infos.has(name) ? this.#idsFor(user, name).at(-1)! : name };
  }

  /** The ids that a name can mean: itself, and the sender's private id. */
  #idsFor(user: string | undefined, name: string): string[] {
    return this.#auth && user !== undefined ? [name, privateId(user, name)] : [name];
  }

  /** The first visible thread that a name can mean. */
  async #chosen(
    user: string | undefined,
    name: string,
    infos: ReadonlyMap<string, ThreadInfo>,
  ): Promise<ThreadInfo | undefined> {
    for (const id of this.#idsFor(user, name)) {
      const info = infos.get(id);
      if (info && (await this.isVisible(user, info))) return info;
    }
    return undefined;
  }

  /** Resolves a name, and creates the thread for the sender if no one has it; `note` is its ledger entry. */
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
    const info = (await this.#infos([id])).get(id);
    return info && (await this.isVisible(user, info)) ? info : undefined;
  }

  /** The threads among some ids: two statements, however many ids there are. */
  async #infos(ids: readonly string[]): Promise<Map<string, ThreadInfo>> {
    const summaries = (await this.#index.listThreads?.({ limit: ids.length, ids })) ?? [];
    return joined(await this.#host.ledger.threads(ids), summaries);
  }

  /** The thread that a request names. Answers 404 if it does not exist or belongs to another user. */
  async thread(c: ServerContext, id = c.req.param("thread") ?? ""): Promise<ThreadInfo> {
    const { info } = await this.resolve(c, id);
    if (!info) missing(id);
    return info;
  }

  /** The visible threads among some names. */
  async named(c: ServerContext, names: readonly string[]): Promise<ThreadInfo[]> {
    const user = c.get("user");
    const infos = await this.#infos(names.flatMap((name) => this.#idsFor(user, name)));
    await setImmediate();
    const threads = await mapInTurns(names, (name) => this.#chosen(user, name, infos));
    return [...new Set(threads.flatMap((info) => info ?? []))];
  }

  /** All threads that a user may see, last used first. */
  async threads(user: string | undefined): Promise<ThreadInfo[]> {
    const summaries = (await this.#index.listThreads?.({ limit: ALL })) ?? [];
    const all = joined(await this.#host.ledger.threads(), summaries);
    const visible = await filterInTurns([...all.values()], (thread) => this.isVisible(user, thread));
    return visible.toSorted((a, b) => updatedAt(b) - updatedAt(a));
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

/** Threads by id, with their ledger entries and summaries. */
function joined(
  hosted: readonly HostedThread[],
  summaries: readonly ThreadSummary[],
): Map<string, ThreadInfo> {
  const threads = new Map<string, ThreadInfo>(hosted.map((each) => [each.id, { id: each.id, hosted: each }]));
  for (const summary of summaries)
    threads.set(summary.id, { ...threads.get(summary.id), id: summary.id, summary });
  return threads;
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
