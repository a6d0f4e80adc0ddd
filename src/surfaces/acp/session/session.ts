import type {
  AgentContext,
  ClientCapabilities,
  ContentBlock,
  PromptResponse,
  SessionUpdate,
} from "@agentclientprotocol/sdk";
import { HarnessError } from "../../../errors.ts";
import type { Todo } from "../../../plan/index.ts";
import type { Mode } from "../../../project/index.ts";
import type { Release } from "../../../storage/index.ts";
import { PLAN_COMMAND } from "../../../threads/edit/plan-command.ts";
import type { Ending } from "../../../threads/events/ending.ts";
import type { Question } from "../../../threads/events/questions.ts";
import type { PlanEdit } from "../../../threads/plan/merged-plan.ts";
import { PlanEdits } from "../../../threads/plan/plan-edits.ts";
import { createRunAgent, type RunAgent } from "../../../threads/prepare/agent.ts";
import { prepareRun, type PrepareOptions } from "../../../threads/prepare/prepare-run.ts";
import type { Prices } from "../../../threads/prepare/prices.ts";
import type { RunSettings } from "../../../threads/prepare/settings.ts";
import { replay } from "../../../threads/record/replay.ts";
import { beginTurn, titleOf } from "../../../threads/run/begin-turn.ts";
import { runThread, RunEvents } from "../../../threads/run/run-thread.ts";
import { argumentsOf, commandIn } from "../../../threads/run/slash-text.ts";
import { Thread } from "../../../threads/thread/thread.ts";
import type { Traces } from "../../../threads/traces/index.ts";
import { Editor } from "../editor.ts";
import type { Sdk } from "../sdk.ts";
import { Calls } from "../updates/calls.ts";
import { Conversation } from "../updates/conversation.ts";
import { planUpdate, type RuledPlan } from "../updates/plan-entries.ts";
import { promptMessage, typedText } from "./prompt.ts";
import { Asking } from "./questions.ts";
import { SessionPlan } from "./session-plan.ts";
import { Thoughts } from "./thoughts.ts";

export interface SessionOptions extends Omit<PrepareOptions, "live" | "place" | "offlineDir"> {
  sdk: Sdk;
  client: AgentContext;
  capabilities: ClientCapabilities;
  id: string;
  settings: RunSettings & { dir: string; mode: Mode };
  pricesOf: (model: string) => Prices | undefined;
  traces: Traces | undefined;
  /** A notice to show before the first prompt, besides errors of the agent. */
  notice?: string | undefined;
}

/** A thread may be held for a moment, while a person's edit of its plan is written. */
const EDIT_MS = 2000;

/** One conversation with an editor: a thread, and the run that is going on in it. */
export class Session {
  readonly id: string;
  settings: SessionOptions["settings"];
  readonly #options: SessionOptions;
  readonly #calls: Calls;
  readonly #editor: Editor;
  readonly #conversation: Conversation;
  readonly #asking: Asking;
  /** The rules that the person has allowed calls by, for as long as the session is open. */
  readonly #allowed: string[] = [];
  /** The number of rules at the time of each question. */
  readonly #askedAt = new Map<string, number>();
  readonly #plan: SessionPlan;
  /** The prompt that is being worked on. */
  #turn: { abort: AbortController; edits: PlanEdits } | undefined;
  /** Stops what is asked for beside it. */
  #beside = new AbortController();
  #work: Promise<unknown> = Promise.resolve();

  constructor(options: SessionOptions) {
    const { sdk, client, capabilities, id, settings } = options;
    this.#options = options;
    this.id = id;
    this.settings = settings;
    const send = (update: SessionUpdate): void => this.send(update);
    this.#calls = new Calls(settings.dir, send);
    const shared = { sdk, client, capabilities, session: id, calls: this.#calls };
    this.#editor = new Editor({ ...shared, dir: settings.dir });
    this.#conversation = new Conversation({ send, calls: this.#calls, capabilities });
    this.#asking = new Asking({
      ...shared,
      editor: this.#editor,
      allow: (rule) => void this.#allowed.push(rule),
      say: (text) => this.#conversation.say(text),
    });
    this.#plan = new SessionPlan({
      thread: id,
      agent: () => this.#reader(),
      edits: () => this.#turn?.edits,
      tell: (plan) => {
        // A run tells of each plan in its turn, and may be further by now.
        if (!this.#turn) this.send(planUpdate(plan));
      },
      approve: () => {
        this.settings = { ...this.settings, approve: "first" };
      },
    });
  }

  send(update: SessionUpdate): void {
    const { sdk, client } = this.#options;
    // Nobody reads it any more where that fails; the connection's end stops the run.
    void client.notify(sdk.methods.client.session.update, { sessionId: this.id, update }).catch(() => {});
  }

  /** Stops what is going on; resolves when it has stopped. What has finished is kept. */
  async cancel(): Promise<void> {
    const stop = new Error("The run was stopped.");
    this.#turn?.abort.abort(stop);
    this.#beside.abort(stop);
    this.#beside = new AbortController();
    await this.#work;
  }

  readPlan(): Promise<RuledPlan> {
    return this.#plan.read();
  }

  /** Changes the plan, also while a prompt runs, and resolves to it. Throws what `editPlan` throws. */
  editPlan(edit: PlanEdit, signal: AbortSignal): Promise<Todo[]> {
    return this.#aside(signal, (stopped) => this.#plan.edit(edit, stopped));
  }

  prompt(prompt: readonly ContentBlock[], signal: AbortSignal): Promise<PromptResponse> {
    const text = typedText(prompt);
    if (commandIn(text) === PLAN_COMMAND.name) return this.#command(argumentsOf(text), signal);
    if (this.#turn) {
      throw new HarnessError("thread-busy", "This session is at work on another prompt: cancel it first.");
    }
    this.#turn = { abort: new AbortController(), edits: new PlanEdits() };
    signal.addEventListener("abort", () => void this.cancel(), { once: true });
    return this.#follow(this.#prompt(prompt, this.#turn));
  }

  /** Answers `/plan`, which takes no turn: the agent may be at work. */
  async #command(args: string, signal: AbortSignal): Promise<PromptResponse> {
    try {
      this.#conversation.sayAside(await this.#aside(signal, (stopped) => this.#plan.command(args, stopped)));
      return { stopReason: "end_turn" };
    } catch (error) {
      if (HarnessError.from(error)?.code === "edit-withdrawn") return { stopReason: "cancelled" };
      throw error;
    }
  }

  #aside<Result>(signal: AbortSignal, work: (stopped: AbortSignal) => Promise<Result>): Promise<Result> {
    return this.#follow(work(AbortSignal.any([signal, this.#beside.signal])));
  }

  /** Makes a stop wait for it. */
  #follow<Result>(work: Promise<Result>): Promise<Result> {
    this.#work = this.#work.then(() => work).catch(() => {});
    return work;
  }

  async #prompt(
    prompt: readonly ContentBlock[],
    { abort: { signal }, edits }: { abort: AbortController; edits: PlanEdits },
  ): Promise<PromptResponse> {
    let held: Release | undefined;
    try {
      held = await this.#options.saver.acquireThread(this.id, { wait: EDIT_MS });
      return response(await this.#run(prompt, { signal, edits, held }));
    } finally {
      this.#calls.endAll(signal.aborted ? "Cancelled." : "Not finished.");
      this.#askedAt.clear();
      this.#turn = undefined;
      // What never came to a run is made in another way.
      await edits.close();
      // A lease that cannot be given back, as on a full disk, ends with this process.
      await held?.().catch(() => {});
    }
  }

  async #run(
    prompt: readonly ContentBlock[],
    { signal, edits, held }: { signal: AbortSignal; edits: PlanEdits; held: Release },
  ): Promise<Ending> {
    const { traces } = this.#options;
    const { agent, model, settings, notice, prices } = await this.#ready();
    const notices = [notice, this.#options.notice].filter((line) => line !== undefined);
    const task = typedText(prompt);
    const thread = new Thread(agent, this.id);
    const { title } = (await thread.state()).values as { title?: string };
    const input = await beginTurn(thread, {
      message: promptMessage(prompt),
      text: task,
      settings,
      isAnswer: true,
    });
    if (title === undefined) this.send({ sessionUpdate: "session_info_update", title: titleOf(task) });
    const events = new RunEvents(this.id, (event) => {
      if (event.type === "question") this.#askedAt.set(event.id, this.#allowed.length);
      this.#conversation.show(event);
    });
    return runThread(input, {
      thread,
      held,
      model,
      events,
      signal,
      edits,
      answer: (question) => this.#answer(question, signal),
      task,
      resumed: title !== undefined,
      dir: settings.dir,
      notice: (title === undefined && notices.join(" ")) || undefined,
      prices,
      traces,
      tap: {
        modes: ["custom"],
        options: () => ({}),
        callbacks: [new Thoughts((text) => this.#conversation.think(text))],
        onChunk: () => {},
      },
    });
  }

  /**
   * After a yes for good, the other questions that were asked with it are left open: the run judges their calls anew,
   * and asks again where it still has to.
   */
  async #answer(question: Question, signal: AbortSignal): Promise<unknown> {
    const isOutdated = question.call !== undefined && this.#askedAt.get(question.id) !== this.#allowed.length;
    return isOutdated ? undefined : this.#asking.ask(question, signal);
  }

  #ready() {
    // The mode may be another one by the time a call is judged.
    const modeNow = (): Mode => this.settings.mode;
    const live = {
      get mode() {
        return modeNow();
      },
      allow: this.#allowed,
    };
    return prepareRun(this.settings, { ...this.#options, live, place: this.#editor });
  }

  /** The agent of the thread, to read and change what it has; its model is never called. */
  async #reader(): Promise<RunAgent> {
    const { saver, projectOf } = this.#options;
    // Settings that cannot be used keep nobody from reading.
    const project = await projectOf?.(this.settings).catch(() => undefined);
    return createRunAgent({ settings: this.settings, checkpointer: saver, project });
  }

  /** Tells the whole conversation so far. */
  async tell(): Promise<void> {
    for (const event of await replay(new Thread(await this.#reader(), this.id))) {
      if (event.type === "run-start" && event.task !== undefined) this.#conversation.showTask(event.task);
      else this.#conversation.show(event);
    }
    this.#calls.endAll("Not finished.");
  }
}

/** The response to a prompt. Throws the run's error. */
function response({ outcome, reason, error }: Ending): PromptResponse {
  if (outcome === "interrupted") return { stopReason: "cancelled" };
  if (outcome === "failed") throw new HarnessError("no-answer", error ?? "The run failed.");
  if (reason === undefined) return { stopReason: "end_turn" };
  return { stopReason: reason === "token-limit" ? "max_tokens" : "max_turn_requests" };
}
