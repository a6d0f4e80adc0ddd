import type {
  AgentContext,
  ClientCapabilities,
  ContentBlock,
  PromptResponse,
  SessionUpdate,
} from "@agentclientprotocol/sdk";
import { HarnessError } from "../../../errors.ts";
import { isApproved } from "../../../middleware/plan/index.ts";
import { shortened } from "../../../middleware/text/index.ts";
import type { Todo } from "../../../plan/index.ts";
import type { LiveRules } from "../../../threads/consent/index.ts";
import { PLAN_COMMAND } from "../../../threads/edit/index.ts";
import type { RunEvent } from "../../../threads/events/index.ts";
import { type Begun, type HostThread, type Run, titleOf } from "../../../threads/host/index.ts";
import { compactWords } from "../../../threads/log/index.ts";
import type { PlanEdit } from "../../../threads/plan/index.ts";
import type { PrepareOptions, RunSettings } from "../../../threads/prepare/index.ts";
import type { Question } from "../../../threads/questions/index.ts";
import { replay } from "../../../threads/record/index.ts";
import { argumentsOf, commandIn } from "../../../threads/run/index.ts";
import { compactAt, undoneWords } from "../../../threads/undo/index.ts";
import { type Mode } from "../../../vocabulary.ts";
import { Editor } from "../editor.ts";
import type { Sdk } from "../sdk.ts";
import { Calls } from "../updates/calls.ts";
import { EditorConversation } from "../updates/conversation.ts";
import { planUpdate, type RuledPlan } from "../updates/plan-entries.ts";
import { COMPACT_COMMAND, FORK_COMMAND, UNDO_COMMAND } from "./commands.ts";
import { promptMessage, typedText } from "./prompt.ts";
import { Asking } from "./questions.ts";
import { SessionPlan } from "./session-plan.ts";

export interface SessionOptions extends Pick<PrepareOptions, "projectOf" | "pricesOf"> {
  sdk: Sdk;
  client: AgentContext;
  capabilities: ClientCapabilities;
  thread: HostThread;
  settings: RunSettings & { dir: string };
  /** The mode if the settings have none. */
  mode: Mode;
  /** A notice to show before the first answer. */
  notice?: string;
  /** Copies the thread for another session; returns the id of the copy. */
  fork: () => Promise<string>;
  /** Called when mode `plan` gets an approved plan, or loses its approval. */
  onApproval: () => void;
}

/** The active prompt. */
interface PromptTurn {
  abort: AbortController;
  run?: Promise<Run>;
}

/** One conversation with an editor: a thread and its active run. */
export class Session implements LiveRules {
  settings: SessionOptions["settings"];
  readonly #options: SessionOptions;
  readonly #thread: HostThread;
  readonly #calls: Calls;
  readonly #editor: Editor;
  readonly #conversation: EditorConversation;
  readonly #asking: Asking;
  /** Rules that the user has added with "always", until the session closes. */
  readonly allow: string[] = [];
  /** The number of rules when each question was asked. */
  readonly #ruleCounts = new Map<string, number>();
  readonly #plan: SessionPlan;
  #turn: PromptTurn | undefined;
  /** Cancels plan edits, which run next to the turn. */
  #asides = new AbortController();
  /** Settles when all work so far has ended. */
  #work: Promise<unknown> = Promise.resolve();
  /** Prompts sent to the active run, which the editor shows itself. */
  readonly #steering: string[] = [];
  /** Commands that change the thread, which a turn uses itself. */
  readonly #betweenTurns = new Map([
    [UNDO_COMMAND.name, () => this.#undo()],
    [COMPACT_COMMAND.name, () => this.#compact()],
    [FORK_COMMAND.name, () => this.#fork()],
  ]);
  /** Whether the next prompt summarizes the conversation first. */
  #compactsNext = false;
  /** Whether the user has approved the current plan. */
  isApproved = false;

  constructor(options: SessionOptions) {
    const { sdk, client, capabilities, thread, settings } = options;
    this.#options = options;
    this.#thread = thread;
    this.settings = settings;
    const send = (update: SessionUpdate): void => this.send(update);
    this.#calls = new Calls(settings.dir, send);
    const shared = { sdk, client, capabilities, session: thread.id, calls: this.#calls };
    this.#editor = new Editor({ ...shared, dir: settings.dir });
    this.#conversation = new EditorConversation({ send, calls: this.#calls, capabilities });
    this.#asking = new Asking({
      ...shared,
      editor: this.#editor,
      dir: settings.dir,
      allow: (rules) => void this.allow.push(...rules),
      say: (text) => this.#conversation.say(text),
    });
    this.#plan = new SessionPlan({
      thread,
      tell: (plan) => {
        // An active run sends each plan itself, and may have a newer one.
        if (!this.#turn) this.send(planUpdate(plan));
      },
      approve: () => {
        this.settings = { ...this.settings, approve: "first" };
      },
    });
  }

  /** The current mode, read for each call. */
  get mode(): Mode {
    return this.settings.mode ?? this.#options.mode;
  }

  send(update: SessionUpdate): void {
    const { sdk, client } = this.#options;
    // A failure means that the editor is gone: the end of the connection stops the run.
    void client
      .notify(sdk.methods.client.session.update, { sessionId: this.#thread.id, update })
      .catch(() => {});
  }

  /** Cancels all work of the session; resolves when it has stopped. Finished steps are kept. */
  async cancel(): Promise<void> {
    const stop = new Error("The run was stopped.");
    this.#turn?.abort.abort(stop);
    void this.#turn?.run?.then((run) => run.stop()).catch(() => {});
    this.#asides.abort(stop);
    this.#asides = new AbortController();
    await this.#work;
  }

  readPlan(): Promise<RuledPlan> {
    return this.#plan.read();
  }

  /** Edits the plan, also during a turn, and resolves to the result. Throws what `HostThread.editPlan` throws. */
  editPlan(edit: PlanEdit, signal: AbortSignal): Promise<Todo[]> {
    return this.#aside(signal, (cancelled) => this.#plan.edit(edit, cancelled));
  }

  prompt(prompt: readonly ContentBlock[], signal: AbortSignal): Promise<PromptResponse> {
    const text = typedText(prompt);
    const command = commandIn(text);
    if (command === PLAN_COMMAND.name) return this.#command(argumentsOf(text), signal);
    const act = this.#betweenTurns.get(command ?? "");
    if (act) return this.#turn ? this.#refuse(command!) : this.#track(act());
    if (this.#turn) return this.#steer(prompt, this.#turn, signal);
    this.#turn = { abort: new AbortController() };
    signal.addEventListener("abort", () => void this.cancel(), { once: true });
    return this.#track(this.#prompt(prompt, this.#turn));
  }

  /** Sends a prompt to the active run, which reads it at its next model call; if none follows, it starts a turn. */
  async #steer(
    prompt: readonly ContentBlock[],
    { abort, run }: PromptTurn,
    signal: AbortSignal,
  ): Promise<PromptResponse> {
    const { content, text } = promptMessage(prompt);
    this.#steering.push(text);
    try {
      await (await run)!.say(content);
      return { stopReason: "end_turn" };
    } catch (error) {
      this.#steering.splice(this.#steering.indexOf(text), 1);
      if (HarnessError.from(error)?.code !== "run-ended") throw error;
      await this.#work;
      const isCancelled = signal.aborted || abort.signal.aborted;
      return isCancelled ? { stopReason: "cancelled" } : this.prompt(prompt, signal);
    }
  }

  /** Sends a prompt to the run that another process has on the thread. */
  async #sayElsewhere(prompt: readonly ContentBlock[], signal: AbortSignal): Promise<PromptResponse> {
    await this.#thread.say(promptMessage(prompt).content, { signal });
    this.#conversation.sayAside(
      "Another process works on this thread. Its agent reads this at its next call.",
    );
    return { stopReason: "end_turn" };
  }

  async #refuse(command: string): Promise<PromptResponse> {
    this.#conversation.sayAside(
      `/${command} is not possible during a turn: stop it first, or wait for its end.`,
    );
    return { stopReason: "end_turn" };
  }

  /** Takes back the last prompt. The editor's transcript stays. */
  async #undo(): Promise<PromptResponse> {
    const result = await this.#thread.undo();
    const words = result
      ? [`Taken back: ${shortened(result.text)}`, ...undoneWords(result)]
      : ["There is nothing to undo."];
    this.#conversation.sayAside(words.join("\n"));
    if (result) this.send(planUpdate(await this.readPlan()));
    return { stopReason: "end_turn" };
  }

  async #compact(): Promise<PromptResponse> {
    const length = await compactAt(await this.#thread.read());
    this.#compactsNext = length !== undefined;
    this.#conversation.sayAside(compactWords(length));
    return { stopReason: "end_turn" };
  }

  /** Copies the session. The protocol has no request by which an agent opens one in the editor. */
  async #fork(): Promise<PromptResponse> {
    const copy = await this.#options.fork();
    this.#conversation.sayAside(
      `The copy is ${copy}: open it from the list of sessions. This session stays as it is. The files on the disk are shared by both.`,
    );
    return { stopReason: "end_turn" };
  }

  /** Answers `/plan`, also during a turn. */
  async #command(args: string, signal: AbortSignal): Promise<PromptResponse> {
    try {
      this.#conversation.sayAside(
        await this.#aside(signal, (cancelled) => this.#plan.command(args, cancelled)),
      );
      return { stopReason: "end_turn" };
    } catch (error) {
      if (HarnessError.from(error)?.code === "edit-withdrawn") return { stopReason: "cancelled" };
      throw error;
    }
  }

  #aside<Result>(signal: AbortSignal, work: (cancelled: AbortSignal) => Promise<Result>): Promise<Result> {
    return this.#track(work(AbortSignal.any([signal, this.#asides.signal])));
  }

  /** Has `cancel` wait for some work. */
  #track<Result>(work: Promise<Result>): Promise<Result> {
    this.#work = this.#work.then(() => work).catch(() => {});
    return work;
  }

  async #prompt(prompt: readonly ContentBlock[], turn: PromptTurn): Promise<PromptResponse> {
    const { signal } = turn.abort;
    try {
      turn.run = this.#start(prompt, signal);
      const run = await turn.run;
      if (signal.aborted) void run.stop();
      return response(await run.ended());
    } catch (error) {
      if (HarnessError.from(error)?.code !== "thread-busy") throw error;
      return await this.#sayElsewhere(prompt, signal);
    } finally {
      this.#calls.endAll(signal.aborted ? "Cancelled." : "Not finished.");
      this.#ruleCounts.clear();
      this.#turn = undefined;
    }
  }

  #start(prompt: readonly ContentBlock[], signal: AbortSignal): Promise<Run> {
    const { projectOf, pricesOf } = this.#options;
    const task = typedText(prompt);
    const compact = this.#compactsNext;
    this.#compactsNext = false;
    return this.#thread.start(promptMessage(prompt).content, {
      task,
      compact,
      attendance: {
        settings: this.settings,
        prepare: { projectOf, pricesOf, live: this, place: this.#editor },
        onBegin: (begun) => this.#begin(begun, task),
        show: (event) => this.#show(event),
        answer: (question) => this.#answer(question, signal),
      },
    });
  }

  /** Shows the title of a new thread, and returns the notices before its first answer. */
  async #begin({ thread, ready }: Begun, task: string): Promise<string | undefined> {
    const values = (await thread.state()).values as { title?: string };
    this.#setApproved(isApproved(values));
    const { title } = values;
    if (title !== undefined) return undefined;
    this.send({ sessionUpdate: "session_info_update", title: titleOf(task) });
    const notices = [ready.notice, this.#options.notice].filter((line) => line !== undefined);
    return notices.join(" ") || undefined;
  }

  #show(event: RunEvent): void {
    if (event.type === "question") this.#ruleCounts.set(event.id, this.allow.length);
    // No model message has the reason of the end.
    if (event.type === "run-end" && event.reason) this.#conversation.say(event.answer ?? event.reason);
    // The editor shows its own prompts.
    const own = event.type === "message" ? this.#steering.indexOf(event.text) : -1;
    if (own >= 0) this.#steering.splice(own, 1);
    else this.#conversation.show(event);
  }

  /**
   * Answers a question. After an "always", questions asked before it stay unanswered: the run checks their calls against
   * the new rule, and asks again if it has to.
   */
  async #answer(question: Question, signal: AbortSignal): Promise<unknown> {
    const isOutdated = question.call !== undefined && this.#ruleCounts.get(question.id) !== this.allow.length;
    if (isOutdated) return undefined;
    const answer = await this.#asking.ask(question, signal);
    // A rejection does not withdraw an earlier approval.
    const { type = "" } = (answer ?? {}) as { type?: string };
    const isYes = ["approve", "edit"].includes(type);
    if (question.kind === "plan-approval" && isYes) this.#setApproved(true);
    return answer;
  }

  #setApproved(value: boolean): void {
    if (value === this.isApproved) return;
    this.isApproved = value;
    if (this.mode === "plan") this.#options.onApproval();
  }

  /** Sends the whole conversation so far. */
  async replay(): Promise<void> {
    for (const event of await replay(await this.#thread.read())) {
      if (event.type === "run-start" && event.task !== undefined) this.#conversation.showTask(event.task);
      else this.#conversation.show(event);
    }
    this.#calls.endAll("Not finished.");
  }
}

/** The response to a prompt. Throws the run's error. */
function response(end: Awaited<ReturnType<Run["ended"]>>): PromptResponse {
  const { outcome, reason, error } = end ?? { outcome: "interrupted" };
  if (outcome === "interrupted") return { stopReason: "cancelled" };
  if (outcome === "failed") throw new HarnessError("no-answer", error ?? "The run failed.");
  if (reason === undefined) return { stopReason: "end_turn" };
  return { stopReason: reason === "token-limit" ? "max_tokens" : "max_turn_requests" };
}
