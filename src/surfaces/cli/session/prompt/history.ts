import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { attempt } from "../../../../errors.ts";

/** So many of the latest are kept. */
const MOST = 1000;
/** A longer text is not kept: it was pasted. */
const LONGEST = 20_000;

/** Lines typed in all sessions of the user. An unreadable file is an empty history. */
export class History {
  readonly #file: string;
  #entries: string[];
  /** The index of the shown line; the length of the list stands for the current draft. */
  #at = 0;
  #draft = "";

  constructor(file: string) {
    this.#file = file;
    const lines = attempt(() => readFileSync(file, "utf8"))?.split("\n") ?? [];
    this.#entries = lines.filter(Boolean).map(textOf).slice(-MOST);
    this.reset();
  }

  add(text: string): void {
    if (text.trim() !== "" && text.length <= LONGEST && this.#entries.at(-1) !== text) {
      this.#entries.push(text);
      this.#save(text);
    }
    this.reset();
  }

  reset(): void {
    this.#at = this.#entries.length;
  }

  /** The entry before or after the one that is shown; undefined where there is none. */
  move(by: -1 | 1, shown: string): string | undefined {
    const next = this.#at + by;
    if (next < 0 || next > this.#entries.length) return undefined;
    if (this.#at === this.#entries.length) this.#draft = shown;
    this.#at = next;
    return this.#entries[next] ?? this.#draft;
  }

  #save(text: string): void {
    try {
      mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
      const line = `${JSON.stringify(text)}\n`;
      if (this.#entries.length <= MOST) appendFileSync(this.#file, line, { mode: 0o600 });
      else {
        this.#entries = this.#entries.slice(-MOST / 2);
        const all = this.#entries.map((entry) => JSON.stringify(entry)).join("\n");
        writeFileSync(this.#file, `${all}\n`, { mode: 0o600 });
      }
    } catch {
      // A full disk or a folder of somebody else: the session goes on without.
    }
  }
}

function textOf(line: string): string {
  return attempt(() => String(JSON.parse(line))) ?? line;
}
