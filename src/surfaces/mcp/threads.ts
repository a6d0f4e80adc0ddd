import type { ServerContext } from "@modelcontextprotocol/server";
import { HarnessError } from "../../errors.ts";
import type { Todo } from "../../plan/index.ts";
import type { ThreadStore, ThreadSummary } from "../../storage/index.ts";
import { readAnswer, type Question } from "../../threads/events/questions.ts";
import type { Host } from "../../threads/host/client.ts";
import type { Run } from "../../threads/host/hosted-run.ts";
import { blindEdit } from "../../threads/plan/blind-edit.ts";
import { planItems, sentRules } from "../../threads/plan/plan-text.ts";
import { newThreadId } from "../../threads/thread/thread-ids.ts";
import { Progress } from "./progress.ts";

/** A thread's result, for the caller. */
export interface Report {
  thread: string;
  state: "running" | "done" | "open" | "waiting" | "failed" | "interrupted";
  todos: readonly Todo[];
  rules: readonly string[];
  answer: string;
  questions: readonly Question[];
  /** The names of the files that live in it. */
  files: string[];
  error?: string;
}

export interface Patience {
  /**
   * The time for which a caller waits that cannot be told of progress. Default: less than the shortest usual limit.
   */
  waitMs: number;
  /** After how long a caller is told again that it goes on. */
  silenceMs: number;
}

const USUAL: Patience = { waitMs: 45_000, silenceMs: 5000 };

/** The threads of this machine, as another agent works with them. A run goes on when its caller has gone. */
export class Threads {
  readonly host: Host;
  readonly saver: ThreadStore;
  readonly #patience: Patience;

  constructor(host: Host, saver: ThreadStore, patience = USUAL) {
    this.#patience = patience;
    this.host = host;
    this.saver = saver;
  }

  async begin(task: string): Promise<{ thread: string; run: Run }> {
    const thread = await newThreadId(this.saver, task);
    return { thread, run: await this.host.thread(thread).start(task) };
  }

  /** The run that a thread is at, or another one. Undefined where there is nothing to go on with. */
  async goOn(thread: string, message: string | undefined): Promise<Run | undefined> {
    await this.#known(thread);
    const found = this.host.thread(thread);
    if (message !== undefined) return found.start(message, { strategy: "enqueue" });
    const active = await found.active();
    if (active) return active;
    return (await found.questions()).length > 0 ? undefined : found.goOn();
  }

  /** Goes on with answers in words, by the ids of questions. Throws `invalid-options` for what cannot be meant. */
  async answer(thread: string, words: Readonly<Record<string, string>>): Promise<Run> {
    const open = await this.host.thread(thread).questions();
    const answers = Object.entries(words).map(([id, said]) => {
      const question = open.find((one) => one.id === id);
      if (!question) throw new HarnessError("invalid-request", "The question is no longer open.");
      return [id, readAnswer(question, said)] as const;
    });
    return this.host.thread(thread).answer(Object.fromEntries(answers));
  }

  /** The one question of a thread, or the one that is meant. */
  async question(thread: string, id: string | undefined): Promise<Question> {
    await this.#known(thread);
    const open = await this.host.thread(thread).questions();
    const found = id === undefined ? open[0] : open.find((one) => one.id === id);
    if (found) return found;
    const ids = open.map((one) => one.id).join(", ");
    const what = open.length === 0 ? "asks nothing" : `asks something else: ${ids}`;
    throw new HarnessError("invalid-request", `Thread ${thread} ${what}.`);
  }

  /** Follows a run to its end, or for as long as a caller waits, and tells of it meanwhile. */
  async follow(run: Run, context: ServerContext): Promise<Report> {
    const { signal } = context.mcpReq;
    const progress = new Progress(context, this.#patience.silenceMs);
    const left = new AbortController();
    // Who has gone is told of nothing: a run that cannot be stopped, as the database is away, goes on.
    const stop = (): void => void run.stop().catch(() => {});
    signal.addEventListener("abort", stop, { once: true });
    const told = this.#tell(run, progress, left.signal);
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      if (!progress.isHeard) timer = setTimeout(resolve, this.#patience.waitMs);
    });
    try {
      await Promise.race([run.done, patience]);
    } finally {
      clearTimeout(timer);
      progress.close();
      signal.removeEventListener("abort", stop);
      left.abort();
      await told;
    }
    return this.report(run.thread, run);
  }

  async report(thread: string, run?: Run): Promise<Report> {
    await this.#known(thread);
    const found = await this.host.thread(thread).read();
    const { todos, rules, answer, files } = await found.content();
    const questions = await found.questions();
    const end = run?.lastEvent;
    const { state: known } = (await this.saver.getThread(thread)) ?? { state: "done" };
    const isOver = run ? run.isOver : known !== "running" && !(await this.host.isBusy(thread));
    const rest = await found.nextInput();
    const stopped = questions.length > 0 ? "waiting" : rest === undefined ? "done" : "open";
    return {
      thread,
      state: isOver ? (end?.outcome ?? stopped) : "running",
      todos,
      rules,
      answer: end?.answer ?? answer,
      questions,
      files: Object.keys(files),
      ...(end?.error !== undefined && { error: end.error }),
    };
  }

  async editPlan(thread: string, markdown: string, signal: AbortSignal): Promise<Todo[]> {
    await this.#known(thread);
    const { todos } = await this.host.thread(thread).plan();
    const items = planItems(markdown, todos);
    const isAtWork =
      (await this.saver.getThread(thread))?.state === "running" || (await this.host.isBusy(thread));
    const edit = isAtWork ? blindEdit(items, todos) : { todos: items, base: todos };
    return this.host.thread(thread).editPlan({ ...edit, rules: sentRules(markdown) }, { signal });
  }

  async file(thread: string, path: string): Promise<string> {
    const { files } = await (await this.host.thread(thread).read()).content();
    const text = files[path];
    if (text === undefined)
      throw new HarnessError("invalid-request", `Thread ${thread} has no file ${path}.`);
    return text;
  }

  list(limit: number): Promise<ThreadSummary[]> {
    return this.saver.listThreads({ limit });
  }

  async cancel(thread: string): Promise<boolean> {
    await this.#known(thread);
    return this.host.thread(thread).stop();
  }

  async #known(thread: string): Promise<void> {
    if ((await this.host.isBusy(thread)) || (await this.saver.getThread(thread))) return;
    throw new HarnessError("invalid-request", `There is no thread ${thread}: list_threads lists them.`);
  }

  async #tell(run: Run, progress: Progress, signal: AbortSignal): Promise<void> {
    for await (const event of run.events(0, signal)) progress.follow(event);
  }
}
