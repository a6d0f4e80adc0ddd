import type { ServerContext } from "@modelcontextprotocol/server";
import { HarnessError } from "../../errors.ts";
import type { Todo } from "../../plan/index.ts";
import type { ThreadStore, ThreadSummary } from "../../storage/index.ts";
import type { Host, Run } from "../../threads/host/index.ts";
import { blindEdit, planItems, sentRules } from "../../threads/plan/index.ts";
import { readAnswer, type Question } from "../../threads/questions/index.ts";
import { newThreadId } from "../../threads/thread/index.ts";
import { Progress } from "./progress.ts";

/** The state and result of a thread. */
export interface Report {
  thread: string;
  state: "running" | "done" | "open" | "waiting" | "failed" | "interrupted";
  todos: readonly Todo[];
  rules: readonly string[];
  answer: string;
  questions: readonly Question[];
  /** The paths of the files in the thread's state. */
  files: string[];
  error?: string;
}

/** Times to wait; tests shorten them. */
export interface Patience {
  /** How long a call waits for a run if it gets no progress. Default: less than the shortest common timeout. */
  waitMs: number;
  /** The time without events after which a notification is sent. */
  silenceMs: number;
}

const DEFAULT_PATIENCE: Patience = { waitMs: 45_000, silenceMs: 5000 };

/** Operations on threads for MCP clients. A run stops when the request that waits for it is cancelled. */
export class Threads {
  readonly host: Host;
  readonly saver: ThreadStore;
  readonly #patience: Patience;

  constructor(host: Host, saver: ThreadStore, patience = DEFAULT_PATIENCE) {
    this.#patience = patience;
    this.host = host;
    this.saver = saver;
  }

  async begin(task: string): Promise<{ thread: string; run: Run }> {
    const thread = await newThreadId(this.saver, task);
    return { thread, run: await this.host.thread(thread).start(task) };
  }

  /** The active run of a thread, or a new one; undefined if there is nothing to continue. */
  async goOn(thread: string, message: string | undefined): Promise<Run | undefined> {
    await this.#mustExist(thread);
    const client = this.host.thread(thread);
    if (message !== undefined) return client.start(message, { strategy: "enqueue" });
    const active = await client.active();
    if (active) return active;
    return (await client.questions()).length > 0 ? undefined : client.goOn();
  }

  /** Continues with answers as text, by question id. Throws `invalid-options` for an invalid one. */
  async answer(thread: string, texts: Readonly<Record<string, string>>): Promise<Run> {
    const open = await this.host.thread(thread).questions();
    const answers = Object.entries(texts).map(([id, text]) => {
      const question = open.find((one) => one.id === id);
      if (!question) throw new HarnessError("invalid-request", "The question is no longer open.");
      return [id, readAnswer(question, text)] as const;
    });
    return this.host.thread(thread).answer(Object.fromEntries(answers));
  }

  /** The question with an id; without an id, the first. Throws `invalid-request` if there is none. */
  async question(thread: string, id: string | undefined): Promise<Question> {
    await this.#mustExist(thread);
    const open = await this.host.thread(thread).questions();
    const question = id === undefined ? open[0] : open.find((one) => one.id === id);
    if (question) return question;
    const ids = open.map((one) => one.id).join(", ");
    const reason = open.length === 0 ? "asks nothing" : `asks something else: ${ids}`;
    throw new HarnessError("invalid-request", `Thread ${thread} ${reason}.`);
  }

  /** Waits for the end of a run, or until a client without progress would time out, and sends progress. */
  async follow(run: Run, context: ServerContext): Promise<Report> {
    const { signal } = context.mcpReq;
    const progress = new Progress(context, this.#patience.silenceMs);
    const end = new AbortController();
    // If the database is not available, the run continues: no client waits for the error.
    const stop = (): void => void run.stop().catch(() => {});
    signal.addEventListener("abort", stop, { once: true });
    const sending = sendProgress(run, progress, end.signal);
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => {
      if (!progress.isRequested) timer = setTimeout(resolve, this.#patience.waitMs);
    });
    try {
      await Promise.race([run.done, timeout]);
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
    const nextInput = await saved.nextInput();
    const savedState = questions.length > 0 ? "waiting" : nextInput === undefined ? "done" : "open";
    return {
      thread,
      state: isOver ? (end?.outcome ?? savedState) : "running",
      todos,
      rules,
      answer: end?.answer ?? answer,
      questions,
      files: Object.keys(files),
      error: end?.error === undefined ? undefined : end.error,
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
