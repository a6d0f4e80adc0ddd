import { EMPTY_THREAD, follow, threadOf, withCalls } from "../../../src/threads/story/thread.ts";
import { ApiError, type Api } from "../client/api.ts";
import type { StampedEvent, StreamEvent, Thread } from "../client/contract.ts";
import type { Connection } from "../client/stream.ts";
import { Drafts } from "./drafts.ts";
import { START, withProgress, withThread, type PageState, type Part } from "./state.ts";

const PAGE_OF_THREADS = 50;
const PAGE_OF_CHECKPOINTS = 500;
/** Pieces of text come faster than anyone reads: what comes together is drawn together. */
const FLUSH_MS = 30;
/** A run of which nothing was heard for so long is looked at again. */
const SILENCE_MS = 15_000;
/** Files and checkpoints are asked for when a step has settled. */
const SETTLE_MS = 400;

/** The change that an event makes in the list of threads. */
type ListChange = (threads: readonly Thread[]) => readonly Thread[];

/** Holds what the page shows, and brings it up to date with what the server says. */
export class PageStore {
  readonly api: Api;
  readonly drafts = new Drafts();
  state: PageState = START;
  /** The number of the last event that came. */
  last: number | undefined;
  #waiting: StampedEvent[] = [];
  /** Events since the thread was requested, which the response may not have. */
  #meanwhile: StampedEvent[] | undefined;
  /** Whether more was saved of the thread since it was asked for. */
  #isBehind = false;
  /** The same for the list of threads, or more of it. */
  #listMeanwhile: ListChange[] | undefined;
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

  /** Does what a person wants, and says what went wrong, where something did. */
  async attempt<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
    try {
      const result = await work();
      this.set({ problem: undefined });
      return result;
    } catch (error) {
      this.set({ problem: this.#wordsOf(error) });
      return undefined;
    }
  }

  /** Reads a part of what is shown. That this went well says nothing about the others. */
  async #read(part: Part, work: () => Promise<void>): Promise<void> {
    const { open } = this.state;
    const why = await work().then(
      () => undefined,
      (error: unknown) => this.#wordsOf(error),
    );
    // What became of another thread is not said of this one.
    if (this.state.open !== open && !OF_ALL_THREADS.includes(part)) return;
    this.set({ failed: { ...this.state.failed, [part]: why } });
  }

  /** The words for an error; none if the page itself is refused, which is shown instead. */
  #wordsOf(error: unknown): string | undefined {
    if (!(error instanceof ApiError)) throw error;
    if (error.status !== 401) return error.message;
    this.set({ connection: "refused" });
    return undefined;
  }

  readonly onConnection = (connection: Connection): void => {
    this.set({ connection });
    // Without a number to go on from, what happened since is not told.
    const isUnknown = connection === "open" && this.last === undefined;
    if (!this.#hasLoaded || isUnknown) void this.load();
    else if (connection === "open") void this.#loadFailed();
  };

  readonly onEvent = (event: StreamEvent, n: number | undefined): void => {
    if (n !== undefined) this.last = n;
    switch (event.event) {
      case "run":
        if (event.data.type === "plan-change") this.#changeList((list) => withProgress(list, event.data));
        if (event.data.thread !== this.state.open) return;
        this.#heard({ ...event.data, ...(n !== undefined && { n }) });
        return;
      case "thread":
        if (event.data.id === this.state.open) this.set({ listed: event.data });
        this.#changeList((threads) => {
          const isListed = threads.some(({ id }) => id === event.data.id);
          return isListed || this.state.query === "" ? withThread(threads, event.data) : threads;
        });
        return;
      case "removed":
        this.#changeList((threads) => threads.filter(({ id }) => id !== event.data.id));
        this.drafts.forget(event.data.id, "");
        if (event.data.id !== this.state.open) return;
        // An answer that is under way was given before.
        this.#meanwhile = undefined;
        this.set({ loading: "missing", listed: undefined });
        return;
      case "start":
        // Its number is all that it tells.
        return;
      case "gap":
        if (event.data.thread === undefined) void this.load();
        else if (event.data.thread === this.state.open) this.#loadMoved();
    }
  };

  /** Looks again at a run that says nothing; somebody has to look at the page for it. */
  readonly watch = (): void => {
    const { thread, connection } = this.state;
    const isSilent = thread.isRunning && Date.now() - this.#heardAt > SILENCE_MS;
    if (isSilent && connection === "open" && !document.hidden && !this.#meanwhile) void this.loadThread();
  };

  /** Loads what the page shows, the first time and after something was missed. */
  async load(): Promise<void> {
    this.#hasLoaded = true;
    await Promise.all([this.#loadInfo(), this.loadThreads(), this.loadThread()]);
  }

  /** Loads a part again. */
  loadPart(part: Part): Promise<void> {
    return {
      info: () => this.#loadInfo(),
      threads: () => this.loadThreads(),
      older: () => this.loadMoreThreads(),
      thread: () => this.loadThread(),
      calls: () => this.#loadCalls(),
      files: () => this.#loadFiles(),
      history: () => this.loadHistory(),
      earlier: () => this.loadEarlier(),
    }[part]();
  }

  async #loadFailed(): Promise<void> {
    const parts = Object.entries(this.state.failed).flatMap(([part, why]) =>
      why === undefined ? [] : [part as Part],
    );
    await Promise.all(parts.map((part) => this.loadPart(part)));
  }

  #loadInfo(): Promise<void> {
    return this.#read("info", async () => this.set({ info: await this.api.info() }));
  }

  async loadThreads(): Promise<void> {
    const { query } = this.state;
    await this.#readList({ query }, (threads) => threads);
  }

  async loadMoreThreads(): Promise<void> {
    // The list itself is on its way.
    if (this.#listMeanwhile) return;
    const { threads = [], query } = this.state;
    await this.#readList({ query, before: threads.at(-1)?.id }, (older) => {
      const shown = this.state.threads ?? [];
      const known = new Set(shown.map(({ id }) => id));
      return [...shown, ...older.filter(({ id }) => !known.has(id))];
    });
  }

  async #readList(
    wanted: { query: string; before?: string | undefined },
    listOf: (found: readonly Thread[]) => readonly Thread[],
  ): Promise<void> {
    const meanwhile: ListChange[] = [];
    this.#listMeanwhile = meanwhile;
    await this.#read("before" in wanted ? "older" : "threads", async () => {
      const { threads, more } = await this.api.threads({ limit: PAGE_OF_THREADS, ...wanted });
      // It was asked for again.
      if (this.#listMeanwhile !== meanwhile) return;
      const found = meanwhile.reduce((list: readonly Thread[], change) => change(list), threads);
      const { open, listed } = this.state;
      const again = found.find(({ id }) => id === open) ?? listed;
      this.set({ threads: listOf(found), hasMoreThreads: more, listed: again });
    });
    if (this.#listMeanwhile === meanwhile) this.#listMeanwhile = undefined;
  }

  /** Shows a thread, or none. What was shown of the same thread stays until the new is there. */
  async open(id: string | undefined): Promise<void> {
    if (id === this.state.open) return;
    const { info, threads, older } = this.state.failed;
    this.#waiting = [];
    this.#meanwhile = undefined;
    this.#isBehind = false;
    this.set({
      open: id,
      listed: this.state.threads?.find((thread) => thread.id === id),
      thread: EMPTY_THREAD,
      settings: {},
      files: undefined,
      checkpoints: undefined,
      earlier: "none",
      past: undefined,
      notes: undefined,
      problem: undefined,
      failed: { info, threads, older },
      loading: id === undefined ? "idle" : "loading",
    });
    if (this.#hasLoaded) await this.loadThread();
  }

  async loadThread(): Promise<void> {
    const { open: id } = this.state;
    if (id === undefined) return;
    const meanwhile: StampedEvent[] = [];
    this.#meanwhile = meanwhile;
    this.#isBehind = false;
    // Not where another thread was opened, this one was asked for again, or it was removed.
    const isWanted = (): boolean => this.#meanwhile === meanwhile;
    await this.#read("thread", async () => {
      const content = await this.api.thread(id).catch((error: unknown) => {
        if (!isWanted()) return undefined;
        this.#meanwhile = undefined;
        const isMissing = error instanceof ApiError && error.status === 404;
        // What was shown before stays: the stream says when the server is back.
        const isEmpty = this.state.thread.entries.length === 0;
        this.set({ loading: isMissing ? "missing" : isEmpty ? "failed" : "idle" });
        if (!isMissing) throw error;
      });
      if (!content || !isWanted()) return;
      this.#heardAt = Date.now();
      const listed = content.thread;
      const thread = follow(threadOf(content), meanwhile);
      this.#meanwhile = undefined;
      this.#waiting = [];
      // An older one than all that are shown would stand where others are to come.
      const threads = this.state.threads?.map((one) => (one.id === id ? listed : one));
      this.set({ thread, settings: content.settings, loading: "idle", listed, ...(threads && { threads }) });
      void this.#loadCalls();
      this.#settle();
    });
    if (this.#isBehind && !this.#meanwhile) await this.loadThread();
  }

  /** Moves come each second: a thread that takes longer to load would never be there if each asked for it anew. */
  #loadMoved(): void {
    if (this.#meanwhile) this.#isBehind = true;
    else void this.loadThread();
  }

  async loadHistory(): Promise<void> {
    const { open: id } = this.state;
    if (id === undefined) return;
    await this.#read("history", async () => {
      const { checkpoints: found, more } = await this.api.history(id, { limit: PAGE_OF_CHECKPOINTS });
      if (this.state.open !== id) return;
      const newest = found.toReversed();
      const { checkpoints: known = [], earlier } = this.state;
      // What was loaded before those stays.
      const place = known.findIndex((checkpoint) => checkpoint.id === newest[0]?.id);
      const older = known.slice(0, Math.max(0, place));
      this.set({
        checkpoints: [...older, ...newest],
        earlier: older.length > 0 ? earlier : more ? "more" : "none",
      });
    });
  }

  /** Loads checkpoints before those that are there. */
  async loadEarlier(): Promise<void> {
    const { open: id, checkpoints: [first] = [], earlier } = this.state;
    if (id === undefined || !first || earlier !== "more") return;
    this.set({ earlier: "loading", said: "Loading earlier steps." });
    const isWanted = (): boolean => this.state.open === id && this.state.checkpoints?.[0]?.id === first.id;
    await this.#read("earlier", async () => {
      const query = { limit: PAGE_OF_CHECKPOINTS, before: first.id };
      const { checkpoints: found, more } = await this.api.history(id, query);
      if (!isWanted()) return;
      this.set({
        checkpoints: [...found.toReversed(), ...this.state.checkpoints!],
        earlier: more ? "more" : "none",
        said: `${found.length} earlier steps are on the time line.`,
      });
    });
    if (isWanted() && this.state.earlier === "loading") this.set({ earlier: "more" });
  }

  #changeList(change: ListChange): void {
    this.#listMeanwhile?.push(change);
    this.set({ threads: change(this.state.threads ?? []) });
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
    this.set({ thread: follow(this.state.thread, events) });
    if (events.some(({ type }) => SETTLING.includes(type))) this.#settle();
    void this.#loadCalls();
  }

  /** Asks for the calls that questions are about, where they are too long for an event. */
  async #loadCalls(): Promise<void> {
    const { open: id, thread } = this.state;
    const isUnclear = thread.questions.some(({ kind, call }) => kind === "permission" && !call);
    if (id === undefined || !isUnclear) return;
    await this.#read("calls", async () => {
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
    await this.#read("files", async () => {
      const { files } = await this.api.files(id);
      if (this.state.open === id) this.set({ files });
    });
  }
}

/** The parts that do not depend on the open thread. */
const OF_ALL_THREADS: readonly Part[] = ["info", "threads", "older"];
const SETTLING: readonly StampedEvent["type"][] = ["tool-end", "subagent-end", "run-end", "answer"];
