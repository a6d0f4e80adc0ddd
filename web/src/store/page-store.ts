import { EMPTY_THREAD, follow, threadOf, withCalls } from "../../../src/runs/story/thread.ts";
import { ApiError, type Api } from "../client/api.ts";
import type { StampedEvent, StreamEvent } from "../client/contract.ts";
import type { Connection } from "../client/stream.ts";
import { START, withThread, type PageState } from "./state.ts";

const PAGE_OF_THREADS = 50;
const PAGE_OF_CHECKPOINTS = 500;
/** Pieces of text come faster than anyone reads: what comes together is drawn together. */
const FLUSH_MS = 30;
/** A run of which nothing was heard for so long is looked at again. */
const SILENCE_MS = 15_000;
/** Files and checkpoints are asked for when a step has settled. */
const SETTLE_MS = 400;

/** Holds what the page shows, and brings it up to date with what the server says. */
export class PageStore {
  readonly api: Api;
  state: PageState = START;
  /** The number of the last event that came. */
  last: number | undefined;
  #waiting: StampedEvent[] = [];
  /** What came since the thread was asked for, until the answer is there: it may not have it. */
  #meanwhile: StampedEvent[] | undefined;
  #flushTimer: ReturnType<typeof setTimeout> | undefined;
  #settleTimer: ReturnType<typeof setTimeout> | undefined;
  #hasLoaded = false;
  #heardAt = 0;
  readonly #listeners = new Set<() => void>();

  constructor(api: Api) {
    this.api = api;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  set(change: Partial<PageState>): void {
    this.state = { ...this.state, ...change };
    for (const listener of this.#listeners) listener();
  }

  /** Does something and says what went wrong, where something did. */
  async attempt<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
    try {
      const result = await work();
      this.set({ problem: undefined });
      return result;
    } catch (error) {
      this.fail(error);
      return undefined;
    }
  }

  fail(error: unknown): void {
    if (!(error instanceof ApiError)) throw error;
    if (error.status === 401) this.set({ connection: "refused" });
    else this.set({ problem: error.message });
  }

  readonly onConnection = (connection: Connection): void => {
    this.set({ connection });
    if (!this.#hasLoaded) void this.load();
  };

  readonly onEvent = (event: StreamEvent, n: number | undefined): void => {
    if (n !== undefined) this.last = n;
    switch (event.event) {
      case "run":
        if (event.data.thread !== this.state.open) return;
        this.#heard({ ...event.data, ...(n !== undefined && { n }) });
        return;
      case "thread": {
        const { threads = [], query } = this.state;
        const isListed = threads.some(({ id }) => id === event.data.id);
        if (isListed || query === "") this.set({ threads: withThread(threads, event.data) });
        return;
      }
      case "removed":
        this.set({ threads: this.state.threads?.filter(({ id }) => id !== event.data.id) ?? [] });
        if (event.data.id === this.state.open) this.set({ loading: "missing" });
        return;
      case "gap":
        if (event.data.thread === undefined) void this.load();
        else if (event.data.thread === this.state.open) void this.loadThread();
    }
  };

  /** Looks again at a run that says nothing; somebody has to look at the page for it. */
  readonly watch = (): void => {
    const { thread, connection } = this.state;
    const isSilent = thread.isRunning && Date.now() - this.#heardAt > SILENCE_MS;
    if (isSilent && connection === "open" && !document.hidden) void this.loadThread();
  };

  /** Loads what the page shows, the first time and after something was missed. */
  async load(): Promise<void> {
    this.#hasLoaded = true;
    await Promise.all([
      this.attempt(async () => this.set({ info: await this.api.info() })),
      this.loadThreads(),
      this.loadThread(),
    ]);
  }

  async loadThreads(): Promise<void> {
    const { query } = this.state;
    await this.attempt(async () => {
      const { threads, more } = await this.api.threads({ limit: PAGE_OF_THREADS, query });
      if (query === this.state.query) this.set({ threads, hasMoreThreads: more });
    });
  }

  async loadMoreThreads(): Promise<void> {
    const { threads = [], query } = this.state;
    const before = threads.at(-1)?.id;
    await this.attempt(async () => {
      const found = await this.api.threads({
        limit: PAGE_OF_THREADS,
        query,
        ...(before !== undefined && { before }),
      });
      const known = new Set(threads.map(({ id }) => id));
      const others = found.threads.filter(({ id }) => !known.has(id));
      this.set({ threads: [...threads, ...others], hasMoreThreads: found.more });
    });
  }

  /** Shows a thread, or none. What was shown of the same thread stays until the new is there. */
  async open(id: string | undefined): Promise<void> {
    if (id === this.state.open) return;
    this.#waiting = [];
    this.set({
      open: id,
      thread: EMPTY_THREAD,
      settings: {},
      files: undefined,
      checkpoints: undefined,
      past: undefined,
      problem: undefined,
      loading: id === undefined ? "idle" : "loading",
    });
    if (this.#hasLoaded) await this.loadThread();
  }

  async loadThread(): Promise<void> {
    const { open: id } = this.state;
    if (id === undefined) return;
    const meanwhile: StampedEvent[] = [];
    this.#meanwhile = meanwhile;
    try {
      const content = await this.api.thread(id);
      // Another thread was opened, or this one was asked for again.
      if (this.state.open !== id || this.#meanwhile !== meanwhile) return;
      this.#heardAt = Date.now();
      const threads = withThread(this.state.threads ?? [], content.thread);
      const thread = meanwhile.reduce(follow, threadOf(content));
      this.#meanwhile = undefined;
      this.#waiting = [];
      this.set({ thread, settings: content.settings, loading: "idle", threads });
      this.#clarify();
      this.#settle();
    } catch (error) {
      if (this.state.open !== id) return;
      const isMissing = error instanceof ApiError && error.status === 404;
      // What was shown before stays: the stream says when the server is back.
      const isEmpty = this.state.thread.entries.length === 0;
      this.set({ loading: isMissing ? "missing" : isEmpty ? "failed" : "idle" });
      if (!isMissing) this.fail(error);
    }
  }

  async loadHistory(): Promise<void> {
    const { open: id } = this.state;
    if (id === undefined) return;
    await this.attempt(async () => {
      const { checkpoints } = await this.api.history(id, { limit: PAGE_OF_CHECKPOINTS });
      if (this.state.open === id) this.set({ checkpoints: checkpoints.toReversed() });
    });
  }

  #heard(event: StampedEvent): void {
    this.#meanwhile?.push(event);
    this.#waiting.push(event);
    this.#flushTimer ??= setTimeout(() => this.#flush(), FLUSH_MS);
  }

  #flush(): void {
    clearTimeout(this.#flushTimer);
    this.#flushTimer = undefined;
    // A thread that is being loaded gets its live events with it.
    if (this.state.loading === "loading") return;
    const events = this.#waiting.splice(0);
    if (events.length === 0) return;
    this.#heardAt = Date.now();
    this.set({ thread: events.reduce(follow, this.state.thread) });
    if (events.some(({ type }) => SETTLING.includes(type))) this.#settle();
    this.#clarify();
  }

  /** Asks for the calls that questions are about, where they are too long for an event. */
  #clarify(): void {
    const { open: id, thread } = this.state;
    const isUnclear = thread.questions.some(({ kind, call }) => kind === "permission" && !call);
    if (id === undefined || !isUnclear) return;
    void this.attempt(async () => {
      const { questions } = await this.api.thread(id);
      if (this.state.open === id) this.set({ thread: withCalls(this.state.thread, questions) });
    });
  }

  #settle(): void {
    clearTimeout(this.#settleTimer);
    this.#settleTimer = setTimeout(() => {
      void this.#loadFiles();
      if (this.state.checkpoints) void this.loadHistory();
    }, SETTLE_MS);
  }

  async #loadFiles(): Promise<void> {
    const { open: id } = this.state;
    if (id === undefined) return;
    const found = await this.api.files(id).catch(() => undefined);
    if (found && this.state.open === id) this.set({ files: found.files });
  }
}

const SETTLING: readonly StampedEvent["type"][] = ["tool-end", "subagent-end", "run-end", "answer"];
