import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { attempt } from "../../../../errors.ts";

/** The most stored entries. */
const MAX_ENTRIES = 1000;
/** The most characters of an entry. Longer texts were pasted, and are not stored. */
const MAX_LENGTH = 20_000;

/** Texts typed in all sessions of the user. An unreadable file counts as an empty history. */
export class History {
  readonly #file: string;
  #entries: string[];
  /** The index of the displayed entry; the length of the list stands for the current draft. */
  #at = 0;
  #draft = "";

  constructor(file: string) {
    this.#file = file;
    const lines = attempt(() => readFileSync(file, "utf8"))?.split("\n") ?? [];
    this.#entries = lines.filter(Boolean).map(textOf).slice(-MAX_ENTRIES);
    this.reset();
  }

  add(text: string): void {
    if (text.trim() !== "" && text.length <= MAX_LENGTH && this.#entries.at(-1) !== text) {
      this.#entries.push(text);
      this.#save(text);
    }
    this.reset();
  }

  reset(): void {
    this.#at = this.#entries.length;
  }

  /** The previous or next entry; undefined if there is none. */
  move(by: -1 | 1, current: string): string | undefined {
    const next = this.#at + by;
    if (next < 0 || next > this.#entries.length) return undefined;
    if (this.#at === this.#entries.length) this.#draft = current;
    this.#at = next;
    return this.#entries[next] ?? this.#draft;
  }

  #save(text: string): void {
    try {
      mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
      const line = `${JSON.stringify(text)}\n`;
      if (this.#entries.length <= MAX_ENTRIES) appendFileSync(this.#file, line, { mode: 0o600 });
      else {
        this.#entries = this.#entries.slice(-MAX_ENTRIES / 2);
        const all = this.#entries.map((entry) => JSON.stringify(entry)).join("\n");
        writeFileSync(this.#file, `${all}\n`, { mode: 0o600 });
      }
    } catch {
      // A full disk or a read-only folder: the session continues without storing history.
    }
  }
}

function textOf(line: string): string {
  return attempt(() => String(JSON.parse(line))) ?? line;
}
