import { HarnessError } from "../../../errors.ts";
import { nearWords } from "../../../files/text/near.ts";
import type { McpServers } from "../../../mcp/index.ts";
import { NO_TOKENS, sumTokens } from "../../../middleware/budget/prices.ts";
import { isApproved, type PlanDecision } from "../../../middleware/plan/people/approval.ts";
import type { Allowed } from "../../../project/allowed.ts";
import type { Mode, Project } from "../../../project/index.ts";
import type { RuledCall } from "../../../project/rules.ts";
import type { ThreadStore } from "../../../storage/index.ts";
import type { RunEvent } from "../../../threads/events/events.ts";
import { PlanEdits } from "../../../threads/plan/plan-edits.ts";
import type { RunAgent } from "../../../threads/prepare/agent.ts";
import { hasIsolation } from "../../../threads/prepare/isolation.ts";
import { RunServers } from "../../../threads/prepare/mcp-servers.ts";
import { prepareRun } from "../../../threads/prepare/prepare-run.ts";
import { pricesOf, type Prices } from "../../../threads/prepare/prices.ts";
import { chosenMode, type RunSettings } from "../../../threads/prepare/settings.ts";
import { beginTurn } from "../../../threads/run/begin-turn.ts";
import { withImages, type WithImages } from "../../../threads/run/named-images.ts";
import { taskInput, userMessage } from "../../../threads/run/run-graph.ts";
import { runThread, RunEvents } from "../../../threads/run/run-thread.ts";
import { argumentsOf, commandIn } from "../../../threads/run/slash-text.ts";
import { newThreadId } from "../../../threads/thread/thread-ids.ts";
import { Thread, type Hold } from "../../../threads/thread/thread.ts";
import { tracesFrom, type Traces } from "../../../threads/traces/index.ts";
import { fileCopies, type FileCopies } from "../../../threads/undo/file-copies.ts";
import { oneLine, shown, type Harmless } from "../output/harmless.ts";
import type { Paint } from "../output/paint.ts";
import type { Terminal } from "../terminal.ts";
import { Agreement } from "./agreement.ts";
import { Clipboard } from "./clipboard.ts";
import { answerFor } from "./consent.ts";
import type { Conversation, SessionModel, SlashCommand } from "./conversation.ts";
import type { Display } from "./display/display.ts";
import { liveRules } from "./live-rules.ts";
import { DEFAULT_MODE, nextMode } from "./modes.ts";
import { Queue } from "./queue.ts";
import { takeUp } from "./resume-thread.ts";
import { commandNames, commandOf } from "./slash.ts";
import { wholeCall } from "./view/call-lines.ts";
import { echoOf } from "./view/echo.ts";
import { footer } from "./view/footer.ts";

type ToolEnd = Extract<RunEvent, { type: "tool-end" }>;

export interface SessionOptions {
  terminal: Terminal;
  display: Display;
  paint: Paint;
  saver: ThreadStore;
  settings: RunSettings;
  model: SessionModel;
  project: Project;
  /** Rules allowed for good in the directory. */
  allowed?: Allowed | undefined;
  /** Where copies of files are kept. */
  copies: string;
  thread?: string | undefined;
  /** Finds another model by its name. */
  modelNamed: (name: string) => Promise<SessionModel>;
}

interface Turn {
  controller: AbortController;
  edits: PlanEdits;
  agreement: Agreement;
  /** Whether the person has approved the plan that is worked on. */
  isApproved: boolean;
}

/** A conversation with an agent on one thread, until the person leaves. */
export class Session implements Conversation {
  readonly terminal: Terminal;
  readonly display: Display;
  readonly paint: Paint;
  readonly saver: ThreadStore;
  readonly project: Project;
  readonly allowed: Allowed | undefined;
  readonly modelNamed: SessionOptions["modelNamed"];
  readonly #copies: string;
  settings: RunSettings;
  model: SessionModel;
  thread: string | undefined;
  /** The session's token usage. */
  usage = NO_TOKENS;
  /** The conversation is summarized in the next turn when it has so many messages. */
  compactAt: number | undefined;
  readonly #servers: RunServers;
  readonly #traces: Traces | undefined;
  readonly #clipboard: Clipboard;
  readonly #queue = new Queue(() => {
    this.#showStatus();
    this.#wake();
  });
  #turn: Turn | undefined;
  #lastCall: ToolEnd | undefined;
  #isOver = false;
  #wake = (): void => {};

  constructor(options: SessionOptions) {
    const { terminal, display, paint, saver, settings, model, project, allowed, copies, thread } = options;
    [this.terminal, this.display, this.paint, this.saver] = [terminal, display, paint, saver];
    [this.settings, this.model, this.project, this.allowed] = [settings, model, project, allowed];
    [this.#copies, this.thread, this.modelNamed] = [copies, thread, options.modelNamed];
    const { env } = terminal;
    this.#servers = new RunServers({ env, onNote: (text) => this.say(paint("yellow", oneLine(text))) });
    this.#traces = tracesFrom(env);
    this.#clipboard = new Clipboard(env);
  }

  /** Runs until the person leaves; what is given is as if it had been typed. */
  async run(first: readonly string[] = []): Promise<void> {
    this.display.open({
      submit: (text) => this.submit(text),
      steer: () => this.#steer(),
      stop: () => this.#stop(),
      quit: () => this.quit(),
      nextMode: () => this.setMode(nextMode(this.mode, this.isIsolated)),
      pastedImage: () => this.#pastedImage(),
      unfold: () => this.#unfold(),
      unqueue: () => this.#queue.last(),
    });
    this.#showStatus();
    if (this.thread !== undefined) await this.#guarded(() => takeUp(this, { isAsked: first.length === 0 }));
    for (const text of first) this.submit(text);
    while (!this.#isOver) {
      const next = this.#queue.first();
      if (next !== undefined) await this.#guarded(() => this.#handle(next));
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }

  get mode(): Mode {
    return chosenMode(this.settings, this.project.config) ?? DEFAULT_MODE;
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

  get isApproved(): boolean {
    return this.#turn?.isApproved ?? false;
  }

  /** Takes what was typed: a command that goes on beside the agent at once, everything else in its turn. */
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
    this.#turn?.controller.abort();
    this.display.dismiss();
    this.#wake();
  }

  readonly say = (...lines: readonly Harmless[]): void => this.display.print(lines);

  setMode(mode: Mode): void {
    this.settings = { ...this.settings, mode };
    this.#showStatus();
  }

  /** Agrees to calls for good, in this directory. */
  async allow(rules: readonly string[]): Promise<void> {
    await this.allowed?.add(rules);
    const { config } = this.project;
    config.allow = [...(config.allow ?? []), ...rules];
    this.say(this.paint("dim", oneLine(`allowed from now on: ${rules.join(", ")} (/allow takes it back)`)));
  }

  agreesTo(call: RuledCall): boolean {
    return this.#turn?.agreement.covers(call) ?? false;
  }

  async agent(): Promise<RunAgent> {
    const { settings, model, project, saver, compactAt } = this;
    const { allow: _, ...config } = project.config;
    const { agent } = await prepareRun(
      { ...settings, mode: this.mode },
      {
        saver,
        modelOf: async () => ({ ...model, isFallback: false }),
        pricesOf: () => this.prices,
        projectOf: async () => ({ ...project, config }),
        servers: { of: () => this.servers() },
        live: liveRules(() => this),
        compactAt,
      },
    );
    return agent;
  }

  servers(): Promise<McpServers | undefined> {
    return this.#servers.of(this.settings, this.project);
  }

  /** Ends what was started for the session. */
  async close(): Promise<void> {
    await this.#servers.close();
    await this.#traces?.close();
    await this.#clipboard.close();
  }

  /** Edits of the plan while the agent works. */
  get edits(): PlanEdits | undefined {
    return this.#turn?.edits;
  }

  copiesFor(thread: string): FileCopies | undefined {
    const { dir } = this.settings;
    const onFailure = ({ message }: Error): void =>
      this.say(this.paint("yellow", oneLine(`No copies are kept for /undo in this turn: ${message}`)));
    return fileCopies({ folder: this.#copies, thread, dir, onFailure });
  }

  /** Another thread is talked to from now on; undefined begins one with the next message. */
  switchTo(thread: string | undefined): void {
    this.thread = thread;
    this.compactAt = undefined;
    this.#showStatus();
  }

  async #handle(text: string): Promise<void> {
    const command = commandOf(text);
    if (command) return this.#command(text, command);
    const name = commandIn(text);
    if (name === undefined) return this.takeTurn(text);
    if (this.project.skills.some((skill) => skill.name === name)) return this.takeTurn(text);
    const [near] = nearWords(`/${name}`, commandNames(this.project));
    const hint = near === undefined ? "/help lists them" : `did you mean ${near}?`;
    this.say(this.paint("red", oneLine(`There is no command /${name}; ${hint}`)));
  }

  async #command(text: string, command: SlashCommand): Promise<void> {
    this.say(this.paint("dim", oneLine(`> ${text}`)));
    await command.run(argumentsOf(text), this);
    this.#showStatus();
  }

  /** Gives the thread a message and runs it until it ends or is stopped. */
  async takeTurn(text: string): Promise<void> {
    const isNew = this.thread === undefined;
    const thread = this.thread ?? (await newThreadId(this.saver, text));
    this.say(...echoOf(text, this.paint), shown``);
    const isBegun = await this.#work(thread, { task: text, resumed: !isNew }, async (owned) => {
      const message = userMessage(await this.#content(text));
      return beginTurn(owned, { message, text, settings: this.#run });
    });
    if (isBegun || this.#isOver) return;
    this.display.draft(text);
    this.say(this.paint("dim", NOT_BEGUN));
  }

  /** Goes on where the thread stopped; a question that waits is put again. */
  async goOn(): Promise<void> {
    const { thread } = this;
    if (thread === undefined) return this.say(shown`There is nothing to go on with yet.`);
    const isBegun = await this.#work(thread, { resumed: true }, async (owned) => {
      const words = await owned.nextInput();
      if (words === undefined) {
        throw new HarnessError("invalid-options", "It is finished: say what shall be done next.");
      }
      return words === null ? null : taskInput(words, { run: this.#run });
    });
    if (!isBegun) this.say(this.paint("dim", STOPPED));
  }

  /** A message with the images that it names. */
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
      const why = (error as Error).message;
      this.say(this.paint("red", oneLine(`The image on the clipboard cannot be taken: ${why}`)));
      return undefined;
    }
  }

  get #run(): RunSettings {
    return { ...this.settings, model: this.model.name };
  }

  /** Runs a turn, from the moment at which it can be stopped. False where it was stopped before it began. */
  async #work(
    thread: string,
    what: { task?: string; resumed: boolean },
    begin: (thread: Thread) => Promise<object | null>,
  ): Promise<boolean> {
    const controller = new AbortController();
    const edits = new PlanEdits();
    const turn: Turn = { controller, edits, agreement: new Agreement(this), isApproved: false };
    this.#turn = turn;
    this.#showStatus();
    let held: Hold | undefined;
    const isStopped = (): boolean => controller.signal.aborted || this.#isOver;
    try {
      held = await this.saver.acquireThread(thread);
      const owned = new Thread(await this.agent(), thread);
      if (isStopped()) return false;
      const input = await begin(owned);
      if (isStopped()) return false;
      turn.isApproved = isApproved((await owned.state()).values);
      this.thread = thread;
      this.compactAt = undefined;
      const events = new RunEvents(thread, (event, view) => {
        this.#note(event);
        this.display.show(event, view);
      });
      const { outcome } = await runThread(input, {
        ...what,
        thread: owned,
        held,
        model: this.model,
        events,
        signal: controller.signal,
        answer: async (question) => {
          const answer = await answerFor(question, this);
          if (answer === undefined) controller.abort();
          if (question.kind === "plan-approval") {
            turn.isApproved = ["approve", "edit"].includes((answer as PlanDecision | undefined)?.type ?? "");
            this.#showStatus();
          }
          return answer;
        },
        dir: this.settings.dir,
        prices: this.prices,
        traces: this.#traces,
        copies: this.copiesFor(thread),
        edits,
      });
      if (outcome === "interrupted" && !this.#isOver) this.say(this.paint("dim", STOPPED));
      return true;
    } finally {
      this.#turn = undefined;
      await edits.close();
      // A lease that cannot be given back, as on a full disk, ends with this process.
      await held?.().catch(() => {});
      this.#showStatus();
    }
  }

  #note(event: RunEvent): void {
    if (event.type === "tool-end") this.#lastCall = event;
    if (event.type === "model-end") this.usage = sumTokens(this.usage, event.usage);
  }

  #steer(): void {
    if (!this.#turn) return;
    const { edits } = this.#turn;
    void this.#queue.handOver(async (text) => edits.say(await this.#content(text)), {
      isWanted: (text) => commandIn(text) === undefined,
      onReturn: (texts) => this.display.draft(texts.join("\n")),
    });
  }

  #stop(): void {
    const turn = this.#turn;
    if (!turn) return;
    // The second time it is meant to be over.
    if (turn.controller.signal.aborted) return this.quit();
    turn.controller.abort();
    const waiting = this.#queue.recall();
    // What was meant to follow may not be what is wanted now.
    if (waiting.length > 0) this.display.draft(waiting.join("\n"));
    this.#showStatus();
  }

  #unfold(): void {
    const call = this.#lastCall;
    if (call) this.say(shown``, ...wholeCall(call, this.paint), shown``);
  }

  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const known = HarnessError.from(error) ?? (error as Error);
      this.say(this.paint("red", oneLine(known.message)));
    }
  }

  #showStatus(): void {
    const isStopping = this.#turn?.controller.signal.aborted ?? false;
    this.display.status({ isBusy: this.isBusy, queue: this.#queue.all, footer: footer(this, isStopping) });
  }
}

const NOT_BEGUN = shown`Stopped before it began; your message is in the prompt again.`;
const STOPPED = shown`/continue goes on where it stopped.`;
