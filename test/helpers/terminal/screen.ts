import { spawn, type IPty } from "@lydell/node-pty";
import xterm from "@xterm/headless";

const PATIENCE_MS = 120_000;
const LOOK_AGAIN_MS = 500;

export interface ScreenOptions {
  columns?: number;
  rows?: number;
  cwd?: string;
  env?: Record<string, string>;
}

/** A program on a pseudo-terminal, with what a person would see of it. */
export class Screen {
  readonly #terminal: xterm.Terminal;
  readonly #process: IPty;
  readonly exit: Promise<number>;
  /** Every byte that was written. */
  raw = "";
  #onWritten = (): void => {};

  constructor(command: readonly string[], { columns = 90, rows = 30, cwd, env = {} }: ScreenOptions = {}) {
    this.#terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 5000, allowProposedApi: true });
    const { CI: _, NO_COLOR: __, ...inherited } = process.env as Record<string, string>;
    this.#process = spawn(command[0]!, command.slice(1), {
      cols: columns,
      rows,
      name: env["TERM"] ?? "xterm-256color",
      env: { ...inherited, TERM: "xterm-256color", ...env },
      ...(cwd !== undefined && { cwd }),
    });
    this.#process.onData((data) => {
      this.raw += data;
      this.#terminal.write(data, () => this.#onWritten());
    });
    this.exit = new Promise((resolve) => this.#process.onExit(({ exitCode }) => resolve(exitCode)));
  }

  type(keys: string): void {
    this.#process.write(keys);
  }

  resize(columns: number, rows: number): void {
    this.#terminal.resize(columns, rows);
    this.#process.resize(columns, rows);
  }

  kill(signal = "SIGKILL"): void {
    this.#process.kill(signal);
  }

  get columns(): number {
    return this.#terminal.cols;
  }

  /** Whether the cursor is shown. */
  get hasCursor(): boolean {
    const { _core: core } = this.#terminal as unknown as {
      _core: { coreService: { isCursorHidden: boolean } };
    };
    return !core.coreService.isCursorHidden;
  }

  /** The visible rows, without empty ones at the end. */
  lines(): string[] {
    return this.#read(this.#terminal.buffer.active.viewportY);
  }

  /** Everything that was ever written, with what has scrolled away. */
  all(): string {
    return this.#read(0).join("\n");
  }

  /** Waits until the screen shows something. */
  async see(what: RegExp): Promise<void> {
    await this.until(() => what.test(this.lines().join("\n")), `${what}`);
  }

  async until(isSo: () => boolean, what: string): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS;
    while (!isSo()) {
      if (Date.now() > deadline) throw new Error(`${what} did not appear on:\n${this.all()}`);
      await this.#written();
    }
  }

  /** Waits until a live region was drawn so many times more. */
  async frames(count: number): Promise<void> {
    const drawn = (): number => this.raw.split("\u001B[?7h").length;
    const [wanted, deadline] = [drawn() + count, Date.now() + PATIENCE_MS];
    while (drawn() < wanted && Date.now() < deadline) await this.#written();
  }

  /** Waits until something is written, and not for ever: before that there is nothing new to look at. */
  #written(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, LOOK_AGAIN_MS);
      this.#onWritten = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #read(from: number): string[] {
    const buffer = this.#terminal.buffer.active;
    const rows = Array.from({ length: buffer.length - from }, (_, at) => {
      return buffer.getLine(from + at)?.translateToString(true) ?? "";
    });
    return rows.slice(0, rows.findLastIndex((row) => row !== "") + 1);
  }
}
