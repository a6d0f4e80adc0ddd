import type {
  AgentContext,
  ClientCapabilities,
  ContentBlock,
  PromptResponse,
  SessionUpdate,
} from "@agentclientprotocol/sdk";
import { Command, type StateSnapshot } from "@langchain/langgraph";
import { HarnessError } from "../../errors.ts";
import { shortened } from "../../middleware/shortened.ts";
import type { Mode } from "../../project/index.ts";
import type { RunAgent } from "../../runs/agent.ts";
import { closeTurn } from "../../runs/close-turn.ts";
import { conduct, RunEvents } from "../../runs/conduct.ts";
import type { Ending } from "../../runs/ending.ts";
import type { Prices } from "../../runs/prices.ts";
import type { Question } from "../../runs/questions.ts";
import { readyAgent, type ReadyOptions, type WantedSettings } from "../../runs/ready.ts";
import { replay } from "../../runs/replay.ts";
import type { RunSettings } from "../../runs/settings.ts";
import { proposePlan, questionsOf } from "../../runs/thread.ts";
import type { Traces } from "../../runs/traces/index.ts";
import { waitingInput } from "../../runs/waiting-edit.ts";
import type { Release } from "../../storage/index.ts";
import { Asking } from "./asking.ts";
import { Calls } from "./calls.ts";
import { Conversation } from "./conversation.ts";
import { Editor } from "./editor.ts";
import { promptMessage, typedText } from "./prompt.ts";
import type { Sdk } from "./sdk.ts";
import { Thoughts } from "./thoughts.ts";

export interface SessionOptions extends Omit<ReadyOptions, "live" | "place" | "offlineDir"> {
  sdk: Sdk;
  client: AgentContext;
  capabilities: ClientCapabilities;
  id: string;
  settings: WantedSettings & { dir: string; mode: Mode };
  pricesOf: (model: string) => Prices | undefined;
  traces: Traces | undefined;
  /** What a person should know before the first prompt, besides what is wrong with the agent. */
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
  /** How many rules there were when a question was asked. */
  readonly #askedAt = new Map<string, number>();
  #abort: AbortController | undefined;
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
  }

  send(update: SessionUpdate): void {
    const { sdk, client } = this.#options;
    // Nobody reads it any more where that fails; the connection's end stops the run.
    void client.notify(sdk.methods.client.session.update, { sessionId: this.id, update }).catch(() => {});
  }

  /** Stops what is going on; resolves when it has stopped. What has finished is kept. */
  async cancel(): Promise<void> {
    this.#abort?.abort(new Error("The run was stopped."));
    await this.#work;
  }

  prompt(prompt: readonly ContentBlock[], signal: AbortSignal): Promise<PromptResponse> {
    if (this.#abort) {
      throw new HarnessError("thread-busy", "This session is at work on another prompt: cancel it first.");
    }
    this.#abort = new AbortController();
    signal.addEventListener("abort", () => void this.cancel(), { once: true });
    const work = this.#prompt(prompt, this.#abort.signal);
    this.#work = work.catch(() => {});
    return work;
  }

  async #prompt(prompt: readonly ContentBlock[], signal: AbortSignal): Promise<PromptResponse> {
    let held: Release | undefined;
    try {
      held = await this.#options.saver.acquireThread(this.id, { wait: EDIT_MS });
      return response(await this.#run(prompt, { signal, held }));
    } finally {
      this.#calls.endAll(signal.aborted ? "Cancelled." : "Not finished.");
      this.#askedAt.clear();
      this.#abort = undefined;
      // A lease that cannot be given back, as on a full disk, ends with this process.
      await held?.().catch(() => {});
    }
  }

  async #run(
    prompt: readonly ContentBlock[],
    { signal, held }: { signal: AbortSignal; held: Release },
  ): Promise<Ending> {
    const { pricesOf, traces } = this.#options;
    const { agent, model, settings, notice } = await this.#ready();
    const notices = [notice, this.#options.notice].filter((line) => line !== undefined);
    const task = typedText(prompt);
    const state = await agent.graph.getState({ configurable: { thread_id: this.id } });
    const { title } = state.values as { title?: string };
    const named = title === undefined ? { title: shortened(task || "A file") } : {};
    const input = await this.#input(agent, prompt, { state, run: settings, ...named });
    if (named.title !== undefined) this.send({ sessionUpdate: "session_info_update", title: named.title });
    const prices = pricesOf(model.name);
    const events = new RunEvents(this.id, (event) => {
      if (event.type === "question") this.#askedAt.set(event.id, this.#allowed.length);
      this.#conversation.show(event);
    });
    return conduct(input, {
      agent,
      thread: this.id,
      held,
      model,
      events,
      signal,
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

  /** What the agent goes on with. Words that are typed while it waits for an answer are the answer. */
  async #input(
    agent: RunAgent,
    prompt: readonly ContentBlock[],
    { state, run, ...named }: { state: StateSnapshot; run: RunSettings; title?: string },
  ): Promise<object> {
    const [question, ...others] = await questionsOf(agent, state);
    const isAnswer = question?.kind === "clarification" && others.length === 0;
    if (isAnswer) await waitingInput(agent, state, ["run", run]);
    else await closeTurn(agent, this.id);
    const { run: before } = state.values as { run?: RunSettings };
    if (run.mode === "plan" && before?.mode !== "plan") await proposePlan(agent, this.id);
    return isAnswer
      ? new Command({ resume: { [question.id]: typedText(prompt) } })
      : { messages: [promptMessage(prompt)], run, ...named };
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
    return readyAgent(this.settings, { ...this.#options, live, place: this.#editor });
  }

  /** Tells the whole conversation so far. */
  async tell(agent: RunAgent): Promise<void> {
    const state = await agent.graph.getState({ configurable: { thread_id: this.id } });
    const questions = await questionsOf(agent, state);
    for (const event of await replay(agent.graph, state, { thread: this.id, questions })) {
      if (event.type === "run-start" && event.task !== undefined) this.#conversation.showTask(event.task);
      else this.#conversation.show(event);
    }
    this.#calls.endAll("Not finished.");
  }
}

/** How a prompt ended. Throws what went wrong. */
function response({ outcome, reason, error }: Ending): PromptResponse {
  if (outcome === "interrupted") return { stopReason: "cancelled" };
  if (outcome === "failed") throw new HarnessError("no-answer", error ?? "The run failed.");
  if (reason === undefined) return { stopReason: "end_turn" };
  return { stopReason: reason === "token-limit" ? "max_tokens" : "max_turn_requests" };
}
