import type { ServerContext } from "@modelcontextprotocol/server";
import { HarnessError } from "../../errors.ts";
import type { Todo } from "../../plan/index.ts";
import type { ThreadStore, ThreadSummary } from "../../storage/index.ts";
import type { Host, Run } from "../../threads/host/index.ts";
import { blindEdit, planItems, sentRules } from "../../threads/plan/index.ts";
import { readAnswer, type Question } from "../../threads/questions/index.ts";
import { newThreadId } from "../../threads/thread/index.ts";
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
    await this.#mustExist(thread);
    const client = this.host.thread(thread);
    if (message !== undefined) return client.start(message, { strategy: "enqueue" });
    const active = await client.active();
    if (active) return active;
    return (await client.questions()).length > 0 ? undefined : client.goOn();
  }

  /** Goes on with answers in words, by the ids of questions. Throws `invalid-options` for what cannot be meant. */
  async answer(thread: string, words: Readonly<Record<string, string>>): Promise<Run> {
    const open = await this.host.thread(thread).questions();
    const answers = Object.entries(words).map(([id, text]) => {
      const question = open.find((one) => one.id === id);
      if (!question) throw new HarnessError("invalid-request", "The question is no longer open.");
      return [id, readAnswer(question, text)] as const;
    });
    return this.host.thread(thread).answer(Object.fromEntries(answers));
  }

  /** The one question of a thread, or the one that is meant. */
  async question(thread: string, id: string | undefined): Promise<Question> {
    await this.#mustExist(thread);
    const open = await this.host.thread(thread).questions();
    const question = id === undefined ? open[0] : open.find((one) => one.id === id);
    if (question) return question;
    const ids = open.map((one) => one.id).join(", ");
    const what = open.length === 0 ? "asks nothing" : `asks something else: ${ids}`;
    throw new HarnessError("invalid-request", `Thread ${thread} ${what}.`);
  }

  /** Follows a run to its end, or for as long as a caller waits, and sends its progress. */
  async follow(run: Run, context: ServerContext): Promise<Report> {
    const { signal } = context.mcpReq;
    const progress = new Progress(context, this.#patience.silenceMs);
    const end = new AbortController();
    // A run that cannot be stopped, as the database is away, goes on: the caller has gone.
    const stop = (): void => void run.stop().catch(() => {});
    signal.addEventListener("abort", stop, { once: true });
    const sending = sendProgress(run, progress, end.signal);
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
      end.abort();
      await sending;
    }
    return this.report(run.thread, run);
  }

  async report(thread: string, run?: Run): Promise<Report> {
    await this.#mustExist(thread);
    const saved = await this.host.thread(thread).read();
    const { todos, rules, answer, files } = await saved.content();
    const questions = await saved.questions();
    const end = run?.lastEvent;
    const isOver = run ? run.isOver : !(await this.#isRunning(thread));
    const rest = await saved.nextInput();
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
    await this.#mustExist(thread);
    const { todos } = await this.host.thread(thread).plan();
    const items = planItems(markdown, todos);
    const edit = (await this.#isRunning(thread)) ? blindEdit(items, todos) : { todos: items, base: todos };
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
    await this.#mustExist(thread);
    return this.host.thread(thread).stop();
  }

  async #mustExist(thread: string): Promise<void> {
    if ((await this.host.isBusy(thread)) || (await this.saver.getThread(thread))) return;
    throw new HarnessError("invalid-request", `There is no thread ${thread}: list_threads lists them.`);
  }

  async #isRunning(thread: string): Promise<boolean> {
    return (await this.saver.getThread(thread))?.state === "running" || this.host.isBusy(thread);
  }
}

async function sendProgress(run: Run, progress: Progress, signal: AbortSignal): Promise<void> {
  for await (const event of run.events(0, signal)) progress.follow(event);
}
