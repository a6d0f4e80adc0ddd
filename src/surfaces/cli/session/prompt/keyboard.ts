import { shown, type Sink } from "../../output/index.ts";
import type { Terminal } from "../../terminal.ts";
import { KeyDecoder, type Key } from "./keys.ts";

/** Switches on bracketed paste, and the kitty protocol, which tells Shift-Enter from Enter. */
const ON = shown`\u001B[?2004h\u001B[>1u`;
const OFF = shown`\u001B[<u\u001B[?2004l`;

/** How long an escape waits for the rest of a key. */
const ESCAPE_MS = 40;
/** How long keys are dropped at the end of a session, so that the shell does not get them. */
const DRAIN_MS = 30;

/** How long after opening the keyboard keys arrive that were typed before. */
const TYPED_AHEAD_MS = 50;

/** Reads keys from a terminal while it is open. */
export class Keyboard {
  readonly #stdin: Terminal["stdin"];
  readonly #stdout: Pick<Sink, "write">;
  readonly #onKey: (key: Key) => void;
  readonly #decoder = new KeyDecoder();
  #isOpen = false;
  #isTypedAhead = true;
  #timer: NodeJS.Timeout | undefined;
  readonly #onData = (data: Buffer): void => {
    clearTimeout(this.#timer);
    // Before raw mode the terminal turned Enter into a line feed.
    const keys = this.#decoder.keys(data);
    this.#emit(this.#isTypedAhead ? keys.map(asEnter) : keys);
    if (this.#decoder.isWaiting) {
      this.#timer = setTimeout(() => this.#emit(this.#decoder.flush()), ESCAPE_MS);
    }
  };
  /** Restores the terminal, however the process ends. */
  readonly #restore = (): void => {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#stdout.write(OFF);
    this.#stdin.setRawMode?.(false);
  };

  constructor({ stdin, stdout }: Pick<Terminal, "stdin" | "stdout">, onKey: (key: Key) => void) {
    this.#stdin = stdin;
    this.#stdout = stdout;
    this.#onKey = onKey;
  }

  open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#stdin.setRawMode?.(true);
    this.#stdout.write(ON);
    this.#stdin.on("data", this.#onData);
    this.#stdin.resume();
    const end = (): void => {
      this.#isTypedAhead = false;
    };
    // `setImmediate` lets pending input be read first, even if the process is late.
    setTimeout(() => setImmediate(end), TYPED_AHEAD_MS).unref();
    process.on("exit", this.#restore);
  }

  /** Releases the terminal at once. */
  lend(): void {
    clearTimeout(this.#timer);
    this.#stdin.off("data", this.#onData);
    this.#stdin.pause();
    this.#restore();
    process.off("exit", this.#restore);
  }

  /** Drops the input that is still arriving, so that the shell does not get it, and releases the terminal. */
  async close(): Promise<void> {
    if (this.#isOpen) {
      this.#stdin.off("data", this.#onData);
      const drop = (): void => {};
      this.#stdin.on("data", drop);
      await new Promise((resolve) => setTimeout(resolve, DRAIN_MS));
      this.#stdin.off("data", drop);
    }
    this.lend();
  }

  #emit(keys: readonly Key[]): void {
    for (const key of keys) if (this.#isOpen) this.#onKey(key);
  }
}

function asEnter(key: Key): Key {
  return key.type === "key" && key.name === "ctrl-j" ? { type: "key", name: "enter" } : key;
}
