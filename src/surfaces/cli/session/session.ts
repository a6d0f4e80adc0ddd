import { HarnessError } from "../../../errors.ts";
import { nearWords } from "../../../files/text/index.ts";
import type { McpServers } from "../../../mcp/index.ts";
import { isApproved, type PlanDecision } from "../../../middleware/plan/index.ts";
import { NO_TOKENS, sumTokens } from "../../../middleware/prices/index.ts";
import type { RuledCall, Allowed, Project } from "../../../project/index.ts";
import type { ThreadStore } from "../../../storage/index.ts";
import type { LiveRules } from "../../../threads/consent/index.ts";
import type { RunEvent } from "../../../threads/events/index.ts";
import {
  type Attendance,
  type Host,
  type HostThread,
  type Run,
  localHost,
} from "../../../threads/host/index.ts";
import { hasIsolation, RunServers, modeOf, type RunSettings } from "../../../threads/prepare/index.ts";
import { withImages, type WithImages, argumentsOf, commandIn } from "../../../threads/run/index.ts";
import { newThreadId } from "../../../threads/thread/index.ts";
import { tracesFrom } from "../../../threads/traces/index.ts";
import { MAIN, type Prices, pricesOf } from "../../../threads/view/index.ts";
import { type Mode } from "../../../vocabulary.ts";
import { type Harmless, harmlessLines, oneLine, shown, type Paint } from "../output/index.ts";
import type { Terminal } from "../terminal.ts";
import { wholeCall, echoOf } from "../view/index.ts";
import { Clipboard } from "./clipboard.ts";
import { Agreement, answerFor } from "./consent.ts";
import type { SessionConversation, SessionModel, SlashCommand } from "./conversation.ts";
import type { Display } from "./display/display.ts";
import { footer } from "./footer.ts";
import { nextMode } from "./modes.ts";
import { Queue } from "./queue.ts";
import { showThread } from "./resume-thread.ts";
import { commandNames, commandOf } from "./slash.ts";

type ToolEnd = Extract<RunEvent, { type: "tool-end" }>;

export interface SessionOptions {
  terminal: Terminal;
  display: Display;
  paint: Paint;
  saver: ThreadStore;
  settings: RunSettings;
  model: SessionModel;
  project: Project;
  /** Rules allowed permanently in the directory. */
  allowed?: Allowed;
  /** The folder for copies of changed files. */
  copies: string;
  thread?: string;
  /** Finds another model by its name. */
  modelNamed: (name: string) => Promise<SessionModel>;
}

interface RunningTurn {
  /** Undefined until the host has started it. */
  run?: Run;
  /** Aborted once the user has stopped the turn. */
  abort: AbortController;
  agreement: Agreement;
}

/** A conversation with an agent on one thread, until the user leaves. */
export class Session implements SessionConversation {
  readonly terminal: Terminal;
  readonly display: Display;
  readonly paint: Paint;
  readonly saver: ThreadStore;
  readonly project: Project;
  readonly allowed: Allowed | undefined;
  readonly modelNamed: SessionOptions["modelNamed"];
  readonly #host: Host;
  settings: RunSettings;
  model: SessionModel;
  thread: HostThread | undefined;
  usage = NO_TOKENS;
  isCompactedNext = false;
  isApproved = false;
  readonly #servers: RunServers;
  readonly #clipboard: Clipboard;
  readonly #queue = new Queue(() => {
    this.#showStatus();
    this.#wake();
  });
  #turn: RunningTurn | undefined;
  /** The last entry that can be unfolded: a call, or the thoughts after it. */
  #folded: ToolEnd | string | undefined;
  #isOver = false;
  #wake = (): void => {};

  constructor(options: SessionOptions) {
    const { terminal, display, paint, saver, settings, model, project, allowed, copies, thread } = options;
    [this.terminal, this.display, this.paint, this.saver] = [terminal, display, paint, saver];
    [this.settings, this.model, this.project, this.allowed] = [settings, model, project, allowed];
    this.modelNamed = options.modelNamed;
    const { env } = terminal;
    this.#servers = new RunServers({ env, onNote: (text) => this.say(paint("yellow", oneLine(text))) });
    this.#host = localHost({
      saver,
      defaults: settings,
      copies,
      modelOf: async () => ({ ...this.model, isFallback: false }),
      pricesOf: () => this.prices,
      projectOf: async () => {
        const { allow: _, ...config } = project.config;
        return { ...project, config };
      },
      servers: { of: () => this.servers() },
      traces: tracesFrom(env),
    });
    this.thread = thread === undefined ? undefined : this.#host.thread(thread);
    this.#clipboard = new Clipboard(env);
  }

  /** Runs until the user leaves. `inputs` are handled as if they had been typed. */
  async run(inputs: readonly string[] = []): Promise<void> {
    this.display.open({
      submit: (text) => this.submit(text),
      steer: () => this.#steer(),
      stop: () => this.#stop(),
      quit: () => this.quit(),
      nextMode: () => this.setMode(nextMode(this.mode, this.isIsolated)),
      pastedImage: () => this.#pastedImage(),
      unfold: () => this.#unfold(),
      unqueue: () => this.#queue.takeLast(),
    });
    this.#showStatus();
    if (this.thread !== undefined)
      await this.#guarded(() => showThread(this, { isAsked: inputs.length === 0 }));
    for (const text of inputs) this.submit(text);
    while (!this.#isOver) {
      const next = this.#queue.takeFirst();
      if (next !== undefined) await this.#guarded(() => this.#handle(next));
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }

  get mode(): Mode {
    return modeOf(this.settings, { config: this.project.config, at: "attended" });
  }

  get isIsolated(): boolean {
    return hasIsolation(this.settings, this.project.config);
  }

  get prices(): Prices | undefined {
    return pricesOf(this.model.name, this.terminal.env, this.project.config);
  }

  get isBusy(): boolean {
    return this.#turn !== undefined;
  }

  /** Handles an input: runs a command that may run next to the agent at once, and queues everything else. */
  submit(text: string): void {
    const command = commandOf(text);
    if (command?.isBeside && this.isBusy) {
      void this.#guarded(() => this.#command(text, command));
      return;
    }
    this.#queue.add(text);
  }

  quit(): void {
    this.#isOver = true;
    if (this.#turn) stopTurn(this.#turn);
    this.display.dismiss();
    this.#wake();
  }

  readonly say = (...lines: readonly Harmless[]): void => this.display.print(lines);

  setMode(mode: Mode): void {
    this.settings = { ...this.settings, mode };
    this.#showStatus();
  }

  async allow(rules: readonly string[]): Promise<void> {
    await this.allowed?.add(rules);
    const { config } = this.project;
    config.allow = [...(config.allow ?? []), ...rules];
    this.say(this.paint("dim", oneLine(`allowed from now on: ${rules.join(", ")} (/allow takes it back)`)));
  }

  agreesTo(call: RuledCall): boolean {
    return this.#turn?.agreement.covers(call) ?? false;
  }

  servers(): Promise<McpServers | undefined> {
    return this.#servers.of(this.settings, this.project);
  }

  /** Stops the host and the MCP servers of the session, and deletes pasted images. */
  async close(): Promise<void> {
    await this.#host.stop();
    await this.#servers.close();
    await this.#clipboard.close();
  }

  switchTo(thread: string | undefined): void {
    this.thread = thread === undefined ? undefined : this.#host.thread(thread);
    this.isCompactedNext = false;
    this.isApproved = false;
    this.#showStatus();
  }

  async #handle(text: string): Promise<void> {
    const command = commandOf(text);
    if (command) return this.#command(text, command);
    const name = commandIn(text);
    if (name === undefined) return this.#takeTurn(text);
    if (this.project.skills.some((skill) => skill.name === name)) return this.#takeTurn(text);
    const [near] = nearWords(`/${name}`, commandNames(this.project));
    const hint = near === undefined ? "/help lists them" : `did you mean ${near}?`;
    this.say(this.paint("red", oneLine(`There is no command /${name}; ${hint}`)));
  }

  async #command(text: string, command: SlashCommand): Promise<void> {
    this.say(this.paint("dim", oneLine(`> ${text}`)));
    await command.run(argumentsOf(text), this);
    this.#showStatus();
  }

  /**
   * Sends a message to the thread and runs it until it ends or is stopped. A message that no agent has received goes back
   * to the prompt.
   */
  async #takeTurn(text: string): Promise<void> {
    const thread = this.thread ?? this.#host.thread(await newThreadId(this.saver, text));
    this.say(...echoOf(text, this.paint), shown``);
    const unread = [text];
    try {
      const isReceived = await this.#inTurn((turn) => this.#send(text, thread, turn));
      if (isReceived || this.#isOver) return;
      this.say(this.paint("dim", NOT_RECEIVED));
    } catch (error) {
      this.#sayError(error);
      unread.push(...this.#queue.recall());
    }
    this.display.draft(unread.join("\n"));
  }

  /** Sends a message to the thread, or to the agent at work on it in another process. False if the user stops that. */
  async #send(text: string, thread: HostThread, turn: RunningTurn): Promise<boolean> {
    const content = await this.#content(text);
    const compact = this.isCompactedNext;
    try {
      return await this.#run(thread, turn, (attendance) =>
        thread.start(content, { task: text, isNewTurn: true, compact, attendance }),
      );
    } catch (error) {
      const isElsewhere = HarnessError.from(error)?.code === "thread-busy";
      // The text of a skill is for the start of a run.
      if (!isElsewhere || commandIn(text) !== undefined) throw error;
    }
    return this.#sayElsewhere(content, thread, turn);
  }

  async #sayElsewhere(
    content: WithImages["content"],
    thread: HostThread,
    { abort: { signal } }: RunningTurn,
  ): Promise<boolean> {
    this.say(this.paint("dim", ELSEWHERE));
    try {
      await thread.say(content, { signal });
      return true;
    } catch (error) {
      if (HarnessError.from(error)?.code === "edit-withdrawn") return false;
      throw error;
    }
  }

  async goOn(): Promise<void> {
    const { thread } = this;
    if (thread === undefined) return this.say(shown`There is nothing to continue yet.`);
    const isBegun = await this.#inTurn((turn) =>
      this.#run(thread, turn, async (attendance) => {
        const run = await thread.goOn({ compact: this.isCompactedNext, attendance });
        if (run) return run;
        throw new HarnessError("invalid-options", "It is finished: say what shall be done next.");
      }),
    );
    if (!isBegun) this.say(this.paint("dim", STOPPED));
  }

  /** The content of a message, with the images that it names. */
  async #content(text: string): Promise<WithImages["content"]> {
    const { content, notes } = await withImages(text, { dir: this.terminal.cwd, model: this.model.model });
    this.say(...notes.map((note) => this.paint("dim", oneLine(note))));
    return content;
  }

  async #pastedImage(): Promise<string | undefined> {
    try {
      const file = await this.#clipboard.image();
      if (file === undefined) this.say(this.paint("dim", shown`There is no image on the clipboard.`));
      return file;
    } catch (error) {
      const { message } = error as Error;
      this.say(this.paint("red", oneLine(`The image on the clipboard cannot be taken: ${message}`)));
      return undefined;
    }
  }

  /** Does the work of a turn, which can be stopped from now on. */
  async #inTurn(work: (turn: RunningTurn) => Promise<boolean>): Promise<boolean> {
    this.#turn = { abort: new AbortController(), agreement: new Agreement(this) };
    this.#showStatus();
    try {
      return await work(this.#turn);
    } finally {
      this.#turn = undefined;
      this.#showStatus();
    }
  }

  /** Runs the thread. False if it was stopped before it began. */
  async #run(
    thread: HostThread,
    turn: RunningTurn,
    start: (attendance: Attendance) => Promise<Run>,
  ): Promise<boolean> {
    const { signal } = turn.abort;
    turn.run = await start({
      settings: { ...this.settings, model: this.model.name },
      prepare: { live: liveRules(() => this) },
      onBegin: async ({ thread: runThread }) => {
        if (signal.aborted) return undefined;
        this.isApproved = isApproved((await runThread.state()).values);
        this.thread = thread;
        this.isCompactedNext = false;
        this.#showStatus();
        return undefined;
      },
      show: (event, view) => {
        this.#note(event);
        this.display.show(event, view);
      },
      answer: async (question) => {
        // A question that arrives after the stop would not be dismissed.
        if (signal.aborted) return undefined;
        const answer = await answerFor(question, this);
        if (answer === undefined) stopTurn(turn);
        if (question.kind === "plan-approval") {
          // A rejection does not revoke an earlier approval.
          this.isApproved ||= ["approve", "edit"].includes((answer as PlanDecision | undefined)?.type ?? "");
          this.#showStatus();
        }
        return answer;
      },
    });
    if (signal.aborted) stopTurn(turn);
    const end = await turn.run.ended();
    if (end?.outcome === "done") this.isApproved = false;
    if (end?.outcome === "interrupted" && !this.#isOver) this.say(this.paint("dim", STOPPED));
    return end !== undefined;
  }

  #note(event: RunEvent): void {
    if (event.type === "tool-end") this.#folded = event;
    if (event.type !== "model-end") return;
    this.usage = sumTokens(this.usage, event.usage);
    this.#showStatus();
    if (event.thoughts && event.owner === MAIN) this.#folded = event.thoughts;
  }

  #steer(): void {
    const { run } = this.#turn ?? {};
    if (!run) return;
    void this.#queue.handOver(async (text) => run.say(await this.#content(text)), {
      isIncluded: (text) => commandIn(text) === undefined,
      onReturn: (texts) => this.display.draft(texts.join("\n")),
    });
  }

  #stop(): void {
    const turn = this.#turn;
    if (!turn) return;
    // The second stop leaves the session.
    if (turn.abort.signal.aborted) return this.quit();
    stopTurn(turn);
    // Queued messages may not fit any more: they go back to the prompt.
    const messages = this.#queue.recall();
    if (messages.length > 0) this.display.draft(messages.join("\n"));
    this.#showStatus();
  }

  #unfold(): void {
    const folded = this.#folded;
    if (folded === undefined) return;
    const lines = typeof folded === "string" ? harmlessLines(folded) : wholeCall(folded, this.paint);
    this.say(shown``, ...lines, shown``);
  }

  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#sayError(error);
    }
  }

  #sayError(error: unknown): void {
    const { message } = HarnessError.from(error) ?? (error as Error);
    this.say(this.paint("red", oneLine(message)));
  }

  #showStatus(): void {
    const isStopping = this.#turn?.abort.signal.aborted ?? false;
    this.display.status({ isBusy: this.isBusy, queue: this.#queue.all, footer: footer(this, isStopping) });
  }
}

const NOT_RECEIVED = shown`Stopped before the agent read it; your message is in the prompt again.`;
const ELSEWHERE = shown`Another process works on this thread: its agent reads this at its next call. Ctrl-C takes it back.`;
const STOPPED = shown`/continue resumes it.`;

function stopTurn(turn: RunningTurn): void {
  turn.abort.abort();
  void turn.run?.stop();
}

/** The mode and the rules of a session, read again for each call. */
function liveRules(now: () => Pick<SessionConversation, "mode" | "project">): LiveRules {
  return {
    get mode() {
      return now().mode;
    },
    get allow() {
      return now().project.config.allow ?? [];
    },
  };
}
