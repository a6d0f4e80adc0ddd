import { shown, type Sink } from "../../output/index.ts";
import type { Terminal } from "../../terminal.ts";
import { KeyDecoder, type Key } from "./keys.ts";

/** Pastes come in brackets, and Shift-Enter as itself where the terminal can tell it from Enter. */
const ON = shown`\u001B[?2004h\u001B[>1u`;
const OFF = shown`\u001B[<u\u001B[?2004l`;

/** The time that an escape waits for the rest of a key. */
const ESCAPE_MS = 40;
/** The time before a session's end in which typed keys are dropped, so that the shell does not get them. */
const DRAIN_MS = 30;

/** The time in which keys arrive that were typed before the keyboard was open. */
const TYPED_AHEAD_MS = 50;

/** Reads keys from a terminal, as long as it is open. */
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
    // The terminal has made Enter a line feed of what was typed before it was ours.
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
    // Where the process was late, what is there is read before the time is up.
    setTimeout(() => setImmediate(end), TYPED_AHEAD_MS).unref();
    process.on("exit", this.#restore);
  }

  /** Leaves the terminal to somebody else at once. */
  lend(): void {
    clearTimeout(this.#timer);
    this.#stdin.off("data", this.#onData);
    this.#stdin.pause();
    this.#restore();
    process.off("exit", this.#restore);
  }

  /** Ends it: what is still on its way is read and thrown away, not handed to the shell. */
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
