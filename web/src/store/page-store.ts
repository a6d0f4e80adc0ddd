import { EMPTY_THREAD, follow, threadOf, withCalls } from "../../../src/threads/log/thread.ts";
import { ApiError, type Api } from "../client/api.ts";
import type { StampedEvent, StreamEvent, Thread } from "../client/contract.ts";
import type { Connection } from "../client/stream.ts";
import { Drafts } from "./drafts.ts";
import { START, withProgress, withThread, stillKept, type PageState, type Part } from "./state.ts";

const PAGE_OF_THREADS = 50;
const PAGE_OF_CHECKPOINTS = 500;
/** Events are drawn in batches, as pieces of text arrive faster than anyone reads. */
const FLUSH_MS = 30;
/** A running thread without events for this long is loaded again. */
const SILENCE_MS = 15_000;
/** The delay between a finished step and the loading of files and checkpoints. */
const SETTLE_MS = 400;

type ListChange = (threads: readonly Thread[]) => readonly Thread[];

/** Holds the state of the page, and updates it by the server's responses and events. */
export class PageStore {
  readonly api: Api;
  readonly drafts: Drafts;
  state: PageState = START;
  last: number | undefined;
  /** Events to draw with the next batch. */
  #waiting: StampedEvent[] = [];
  /** Events since the thread was requested, which the response may lack; undefined if no request is pending. */
  #meanwhile: StampedEvent[] | undefined;
  /** Whether the thread changed since it was requested. */
  #isBehind = false;
  /** Changes since the list, or more of it, was requested; undefined if no request is pending. */
  #listMeanwhile: ListChange[] | undefined;
  #flushTimer: ReturnType<typeof setTimeout> | undefined;
  #settleTimer: ReturnType<typeof setTimeout> | undefined;
  #hasLoaded = false;
  #isSearching = false;
  #lastEventAt = 0;
  readonly #listeners = new Set<() => void>();

  /** Keeps drafts in `storage` over a reload. */
  constructor(api: Api, storage?: Storage) {
    this.api = api;
    this.drafts = new Drafts(storage);
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  set(change: Partial<PageState>): void {
    this.state = { ...this.state, ...change };
    for (const listener of this.#listeners) listener();
  }

  /** Runs the user's action, and shows its error. */
  async attempt<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
    try {
      const result = await work();
      this.set({ problem: undefined });
      return result;
    } catch (error) {
      this.set({ problem: this.#messageOf(error) });
      return undefined;
    }
  }

  /** Loads a part of the page, and records its error apart from those of other parts. */
  async #load(part: Part, work: () => Promise<void>): Promise<void> {
    const { open } = this.state;
    const failure = await work().then(
      () => undefined,
      (error: unknown) => this.#messageOf(error),
    );
    // Another thread was opened meanwhile.
    if (this.state.open !== open && !OF_ALL_THREADS.includes(part)) return;
    this.set({ failed: { ...this.state.failed, [part]: failure } });
  }

  /** The message of an `ApiError`; undefined for a refused token, which the whole page shows. */
  #messageOf(error: unknown): string | undefined {
    if (!(error instanceof ApiError)) throw error;
    if (error.status !== 401) return error.message;
    this.set({ connection: "refused" });
    return undefined;
  }

  readonly onConnection = (connection: Connection): void => {
    this.set({ connection });
    // Without the number of an event, the stream does not resend missed ones.
    const mayHaveGap = connection === "open" && this.last === undefined;
    if (!this.#hasLoaded || mayHaveGap) void this.load();
    else if (connection === "open") void this.#loadFailed();
  };

  readonly onEvent = (event: StreamEvent, n: number | undefined): void => {
    if (n !== undefined) this.last = n;
    switch (event.event) {
      case "run":
        if (event.data.type === "plan-change") this.#changeList((list) => withProgress(list, event.data));
        if (event.data.thread !== this.state.open) return;
        // A message that the notes say was sent is in the conversation now.
        if (event.data.type === "message" || event.data.type === "run-start") this.set({ notes: undefined });
        this.#enqueue({ ...event.data, ...(n !== undefined && { n }) });
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
        // A pending response is out of date.
        this.#meanwhile = undefined;
        this.set({ loading: "missing", listed: undefined });
        return;
      case "start":
        // Only its number matters.
        return;
      case "gap":
        if (event.data.thread === undefined) void this.load();
        else if (event.data.thread === this.state.open) this.#loadMoved();
    }
  };

  /** Loads a silent running thread again, while the tab is visible. */
  readonly watch = (): void => {
    const { thread, connection } = this.state;
    const isSilent = thread.isRunning && Date.now() - this.#lastEventAt > SILENCE_MS;
    if (isSilent && connection === "open" && !document.hidden && !this.#meanwhile) void this.loadThread();
  };

  /** Loads all parts: at the start, and after missed events. */
  async load(): Promise<void> {
    this.#hasLoaded = true;
    await Promise.all([this.#loadInfo(), this.loadThreads(), this.loadThread()]);
  }

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
    const parts = Object.entries(this.state.failed).flatMap(([part, failure]) =>
      failure === undefined ? [] : [part as Part],
    );
    await Promise.all(parts.map((part) => this.loadPart(part)));
  }

  #loadInfo(): Promise<void> {
    return this.#load("info", async () => this.set({ info: await this.api.info() }));
  }

  /** Lists the threads with these words. Words that are typed while an answer is awaited make one request after it. */
  async search(query: string): Promise<void> {
    this.set({ query });
    if (this.#isSearching) return;
    this.#isSearching = true;
    let asked: string | undefined;
    while (asked !== this.state.query) {
      asked = this.state.query;
      await this.loadThreads();
    }
    this.#isSearching = false;
  }

  async loadThreads(): Promise<void> {
    const { query } = this.state;
    await this.#loadList({ query }, (threads) => threads);
  }

  async loadMoreThreads(): Promise<void> {
    // The list is being loaded already.
    if (this.#listMeanwhile) return;
    const { threads = [], query } = this.state;
    await this.#loadList({ query, before: threads.at(-1)?.id }, (older) => {
      const shown = this.state.threads ?? [];
      const shownIds = new Set(shown.map(({ id }) => id));
      return [...shown, ...older.filter(({ id }) => !shownIds.has(id))];
    });
  }

  async #loadList(
    selection: { query: string; before?: string },
    listOf: (threads: readonly Thread[]) => readonly Thread[],
  ): Promise<void> {
    const meanwhile: ListChange[] = [];
    this.#listMeanwhile = meanwhile;
    await this.#load("before" in selection ? "older" : "threads", async () => {
      const { threads, more } = await this.api.threads({ limit: PAGE_OF_THREADS, ...selection });
      // Requested again meanwhile.
      if (this.#listMeanwhile !== meanwhile) return;
      const current = meanwhile.reduce((list: readonly Thread[], change) => change(list), threads);
      const { open, listed } = this.state;
      const openThread = current.find(({ id }) => id === open) ?? listed;
      this.set({ threads: listOf(current), hasMoreThreads: more, listed: openThread });
    });
    if (this.#listMeanwhile === meanwhile) this.#listMeanwhile = undefined;
  }

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
      kept: [],
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
    // False once another thread was opened, this one was requested again, or it was removed.
    const isCurrent = (): boolean => this.#meanwhile === meanwhile;
    await this.#load("thread", async () => {
      const content = await this.api.thread(id).catch((error: unknown) => {
        if (!isCurrent()) return undefined;
        this.#meanwhile = undefined;
        const isMissing = error instanceof ApiError && error.status === 404;
        // Shown content stays: the stream reconnects and loads it again.
        const isEmpty = this.state.thread.entries.length === 0;
        this.set({ loading: isMissing ? "missing" : isEmpty ? "failed" : "idle" });
        if (!isMissing) throw error;
      });
      if (!content || !isCurrent()) return;
      this.#lastEventAt = Date.now();
      const listed = content.thread;
      const thread = follow(threadOf(content), meanwhile);
      this.#meanwhile = undefined;
      this.#waiting = [];
      // Only replaced, not added: the thread may be older than the loaded part of the list.
      const threads = this.state.threads?.map((one) => (one.id === id ? listed : one));
      const kept = stillKept(content.kept ?? [], meanwhile);
      const { settings } = content;
      this.set({ thread, kept, settings, loading: "idle", listed, threads: threads ?? this.state.threads });
      void this.#loadCalls();
      this.#settle();
    });
    if (this.#isBehind && !this.#meanwhile) await this.loadThread();
  }

  /** Loads a thread that another process changed; during a load, only once it has finished, as changes may come faster. */
  #loadMoved(): void {
    if (this.#meanwhile) this.#isBehind = true;
    else void this.loadThread();
  }

  async loadHistory(): Promise<void> {
    const { open: id } = this.state;
    if (id === undefined) return;
    await this.#load("history", async () => {
      const { checkpoints, more } = await this.api.history(id, { limit: PAGE_OF_CHECKPOINTS });
      if (this.state.open !== id) return;
      const newest = checkpoints.toReversed();
      const { checkpoints: shown = [], earlier } = this.state;
      // Keeps the checkpoints before those.
      const place = shown.findIndex((checkpoint) => checkpoint.id === newest[0]?.id);
      const older = shown.slice(0, Math.max(0, place));
      this.set({
        checkpoints: [...older, ...newest],
        earlier: older.length > 0 ? earlier : more ? "more" : "none",
      });
    });
  }

  /** Loads checkpoints before the first loaded one. */
  async loadEarlier(): Promise<void> {
    const { open: id, checkpoints: [first] = [], earlier } = this.state;
    if (id === undefined || !first || earlier !== "more") return;
    this.set({ earlier: "loading", message: "Loading earlier steps." });
    const isCurrent = (): boolean => this.state.open === id && this.state.checkpoints?.[0]?.id === first.id;
    await this.#load("earlier", async () => {
      const query = { limit: PAGE_OF_CHECKPOINTS, before: first.id };
      const { checkpoints, more } = await this.api.history(id, query);
      if (!isCurrent()) return;
      this.set({
        checkpoints: [...checkpoints.toReversed(), ...this.state.checkpoints!],
        earlier: more ? "more" : "none",
        message: `${checkpoints.length} earlier steps are on the time line.`,
      });
    });
    if (isCurrent() && this.state.earlier === "loading") this.set({ earlier: "more" });
  }

  #changeList(change: ListChange): void {
    this.#listMeanwhile?.push(change);
    this.set({ threads: change(this.state.threads ?? []) });
  }

  #enqueue(event: StampedEvent): void {
    this.#meanwhile?.push(event);
    this.#waiting.push(event);
    this.#flushTimer ??= setTimeout(() => this.#flush(), FLUSH_MS);
  }

  #flush(): void {
    clearTimeout(this.#flushTimer);
    this.#flushTimer = undefined;
    // A thread that is being loaded gets these events with the response.
    if (this.state.loading === "loading") return;
    const events = this.#waiting.splice(0);
    if (events.length === 0) return;
    this.#lastEventAt = Date.now();
    const { thread, kept } = this.state;
    this.set({ thread: follow(thread, events), kept: stillKept(kept, events) });
    if (events.some(({ type }) => SETTLING.includes(type))) this.#settle();
    void this.#loadCalls();
  }

  /** Loads the calls that questions are about, if they are too long for an event. */
  async #loadCalls(): Promise<void> {
    const { open: id, thread } = this.state;
    const lacksCall = thread.questions.some(({ kind, call }) => kind === "permission" && !call);
    if (id === undefined || !lacksCall) return;
    await this.#load("calls", async () => {
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
    await this.#load("files", async () => {
      const { files } = await this.api.files(id);
      if (this.state.open === id) this.set({ files });
    });
  }
}

/** The parts that do not depend on the open thread. */
const OF_ALL_THREADS: readonly Part[] = ["info", "threads", "older"];
const SETTLING: readonly StampedEvent["type"][] = ["tool-end", "subagent-end", "run-end", "answer"];
