import { EventEmitter } from "node:events";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import type { ModelProfile } from "@langchain/core/language_models/profile";
import type { BaseMessage } from "@langchain/core/messages";
import xterm from "@xterm/headless";
import { afterEach, beforeEach } from "vitest";
import { Allowed } from "../../../src/project/allowed.ts";
import type { Project } from "../../../src/project/index.ts";
import { sqliteSaver, type SqliteSaver } from "../../../src/storage/index.ts";
import { plainPaint } from "../../../src/surfaces/cli/output/paint.ts";
import { LiveDisplay } from "../../../src/surfaces/cli/session/display/live-display.ts";
import { History } from "../../../src/surfaces/cli/session/prompt/history.ts";
import { Session } from "../../../src/surfaces/cli/session/session.ts";
import { commandNames } from "../../../src/surfaces/cli/session/slash.ts";
import type { Terminal } from "../../../src/surfaces/cli/terminal.ts";
import { ScriptedModel, type Step } from "../../../src/testing/index.ts";
import { DEFAULT_SETTINGS, type RunSettings } from "../../../src/threads/prepare/settings.ts";

const PATIENCE_MS = 120_000;

export interface StageOptions {
  columns?: number;
  rows?: number;
  /** A folder for what is kept, and as the directory to work on. */
  home: string;
  settings?: Partial<RunSettings>;
  saver?: SqliteSaver;
  thread?: string;
  project?: Partial<Project>;
  env?: Record<string, string>;
  /** Whether the script begins anew at its end. */
  loop?: boolean;
  /** What the model says that it can do. */
  profile?: ModelProfile;
  /** Says when no key has come for a while; at once without it. */
  onQuiet?: (then: () => void) => () => void;
  /** What stands on the screen once it can be typed to. Default: the empty prompt. */
  ready?: RegExp;
}

/** A step that waits until it is let go. */
export function held(step: Step): { step: Step; go: () => void; begun: Promise<void> } {
  let go = (): void => {};
  let begin = (): void => {};
  const gate = new Promise<void>((resolve) => (go = resolve));
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const waiting: Step = async () => {
    begin();
    await gate;
    return step;
  };
  return { step: waiting, go, begun };
}

/** A question that can be seen can be answered. */
function atOnce(then: () => void): () => void {
  then();
  return () => {};
}

/** For the tests of a file: a folder for each, and sessions in it that are left behind it. */
export function sessionStages() {
  let home = "";
  let opened: SessionStage[] = [];
  beforeEach(() => {
    home = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-session-")));
  });
  afterEach(async () => {
    await Promise.all(opened.map((stage) => stage.leave()));
    opened = [];
    rmSync(home, { recursive: true });
  });
  return {
    get home() {
      return home;
    },
    /** Opens a session and waits until it can be typed to. */
    async open(steps: readonly Step[], options: Partial<StageOptions> = {}): Promise<SessionStage> {
      const stage = await SessionStage.open(steps, { home, ...options });
      opened.push(stage);
      await stage.see(options.ready ?? /^> what shall be done/m);
      return stage;
    },
  };
}

/** A session on a terminal emulator, with a model that plays a script. */
export class SessionStage {
  readonly model: ScriptedModel;
  readonly done: Promise<void>;
  readonly session: Session;
  /** Every byte that was written. */
  raw = "";
  readonly #stdin = new PassThrough();
  readonly #screen: xterm.Terminal;
  readonly #stdout: EventEmitter & { columns: number; rows: number };
  #written = Promise.resolve();

  static async open(steps: readonly Step[], options: StageOptions): Promise<SessionStage> {
    return new SessionStage(steps, { ...options, saver: options.saver ?? (await sqliteSaver(":memory:")) });
  }

  private constructor(steps: readonly Step[], options: StageOptions & { saver: SqliteSaver }) {
    const { columns = 80, rows = 24, home, saver, thread } = options;
    this.model = new ScriptedModel(steps, options.loop ? { loop: true } : {});
    if (options.profile) Object.defineProperty(this.model, "profile", { value: options.profile });
    this.#screen = new xterm.Terminal({
      cols: columns,
      rows,
      scrollback: 20_000,
      allowProposedApi: true,
      convertEol: true,
    });
    const write = (text: string): void => {
      this.raw += text;
      this.#written = this.#written.then(() => new Promise((resolve) => this.#screen.write(text, resolve)));
    };
    this.#stdout = Object.assign(new EventEmitter(), { columns, rows, isTTY: true, write });
    const terminal = {
      stdin: this.#stdin,
      stdout: this.#stdout,
      stderr: this.#stdout,
      env: {
        HOME: home,
        XDG_STATE_HOME: join(home, "state"),
        EDITOR: join(home, "editor.sh"),
        ...options.env,
      },
      cwd: home,
    } as unknown as Terminal;
    const project: Project = {
      trust: "none",
      files: [],
      config: {},
      skills: [],
      roles: [],
      instructions: async () => "",
      offers: [],
      mcp: { mcpServers: {} },
      ...options.project,
    };
    const display = new LiveDisplay({
      terminal,
      paint: plainPaint,
      history: new History(join(home, "state", "history")),
      commands: () => commandNames(project).map((text) => ({ text })),
      files: () => ["src/a.ts", "docs/b.md"],
      onQuiet: options.onQuiet ?? atOnce,
    });
    const model = { model: this.model, name: "scripted", source: "option", isFallback: false } as const;
    this.session = new Session({
      terminal,
      display,
      paint: plainPaint,
      saver,
      settings: { ...DEFAULT_SETTINGS, model: "scripted", startedIn: home, dir: home, ...options.settings },
      model,
      project,
      allowed: new Allowed(home, terminal.env),
      copies: join(home, "state", "copies"),
      thread,
      modelNamed: () => Promise.resolve(model),
    });
    this.done = this.#run(display);
  }

  async #run(display: LiveDisplay): Promise<void> {
    await this.session.run();
    await display.close();
    await this.session.close();
  }

  type(keys: string): void {
    this.#stdin.write(keys);
  }

  async resize(columns: number, rows: number): Promise<void> {
    await this.#written;
    this.#screen.resize(columns, rows);
    Object.assign(this.#stdout, { columns, rows });
    this.#stdout.emit("resize");
  }

  /** The visible rows, without empty ones at the end. */
  lines(): string[] {
    return this.#read(this.#screen.buffer.active.viewportY);
  }

  /** Everything that was ever written, with what has scrolled away. */
  all(): string {
    return this.#read(0).join("\n");
  }

  /** The row of the cursor, and its column. */
  get cursor(): { row: string; column: number } {
    const { active } = this.#screen.buffer;
    const row = active.getLine(active.baseY + active.cursorY)?.translateToString(true) ?? "";
    return { row, column: active.cursorX };
  }

  /** Waits until the screen shows something. */
  async see(what: RegExp): Promise<void> {
    await this.until(() => what.test(this.lines().join("\n")), `${what}`);
  }

  async until(isSo: () => boolean, what = "what was waited for"): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS;
    while (!isSo()) {
      if (Date.now() > deadline) throw new Error(`${what} did not come:\n${this.all()}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  async leave(): Promise<void> {
    this.session.quit();
    await this.done;
    await this.#written;
  }

  /** The messages of a request, in short, without the system's. */
  asked(at: number): string[] {
    return (this.model.requests[at]?.messages ?? []).flatMap((message: BaseMessage) =>
      message.getType() === "system" ? [] : [`${message.getType()}: ${message.text}`],
    );
  }

  #read(from: number): string[] {
    const buffer = this.#screen.buffer.active;
    const rows = Array.from({ length: buffer.length - from }, (_, at) => {
      return buffer.getLine(from + at)?.translateToString(true) ?? "";
    });
    return rows.slice(0, rows.findLastIndex((row) => row !== "") + 1);
  }
}
