import { ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { changedLines } from "../../files/changed-lines.ts";
import { decodeText } from "../../files/text.ts";
import { HELD_TEXTS } from "./files.prompt.ts";
import { hashOf, seenIn, type SeenFile } from "./seen-file.ts";
import { seenText } from "./seen-text.ts";

/** What a call knows when it begins. */
interface Known {
  /** The conversation, with the results of the turn's earlier calls where they are known. */
  messages: readonly BaseMessage[];
  /** Names of the call and of those that change files and stand before it in its turn; no other turn has them. */
  call: string;
  earlier: readonly string[];
  /** When the thread began to use its files; undefined where that is not known. */
  since: number | undefined;
}

/** What a call finds seen, and what it shows in its turn. */
export class Sightings {
  readonly #seen: Map<string, string>;
  readonly #known: Known;
  #isReplay = true;
  /** What this call itself has shown. */
  latest: SeenFile | undefined;

  constructor(known: Known) {
    const seen = known.messages.flatMap((message) => seenIn(message) ?? []);
    this.#seen = new Map(seen.map(({ path, hash }) => [path, hash]));
    this.#known = known;
  }

  get since(): number | undefined {
    return this.#known.since;
  }

  /** Whether a file is as it was last seen, or as an earlier call of the turn left it. */
  isSeen(path: string, bytes: Uint8Array): boolean {
    const hash = hashOf(bytes);
    const isOwn = this.#known.earlier.some((call) => isSame(shownBy.get(call), { path, hash }));
    return isOwn || this.#seen.get(path) === hash;
  }

  /** How a file differs from what was last seen of it; undefined where it does not, or was never seen. */
  newsOf(path: string, now: string): string | undefined {
    const hash = this.#seen.get(path);
    if (hash === undefined || this.isSeen(path, Buffer.from(now))) return undefined;
    const before = texts.get(hash) ?? seenText(this.#known.messages, { path, hash });
    const changes = before === undefined ? undefined : changedLines(before, now);
    return changes === undefined ? HELD_TEXTS.changed : `${HELD_TEXTS.changedLines}\n${changes}`;
  }

  /** Whether a result has this text in it, as that of a command that printed a file. */
  wasPrinted(text: string): boolean {
    const printed = text.trimEnd();
    return this.#known.messages.some(
      (message) => ToolMessage.isInstance(message) && message.text.includes(printed),
    );
  }

  note(path: string, bytes: Uint8Array): void {
    const hash = hashOf(bytes);
    this.#seen.set(path, hash);
    const text = bytes.length <= MAX_TEXT ? decodeText(bytes, path) : undefined;
    if (text?.ok) setBounded(texts, hash, text.content);
    if (this.#isReplay) return;
    this.latest = { path, hash };
    setBounded(shownBy, this.#known.call, this.latest);
  }

  /** From here on the call itself is made, and no longer those before it. */
  begin(): void {
    this.#isReplay = false;
  }
}

function isSame(one: SeenFile | undefined, other: SeenFile): boolean {
  return one?.path === other.path && one.hash === other.hash;
}

/** What calls have shown in this process: the results of a turn are not in the conversation before its end. */
const shownBy = new Map<string, SeenFile>();
/** Texts that were seen in this process, by hash: the conversation may have lost them. */
const texts = new Map<string, string>();
const MAX_TEXT = 100_000;
const MAX_ENTRIES = 200;

/** Sets an entry, and forgets the oldest where there are too many. */
export function setBounded<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > MAX_ENTRIES) map.delete(map.keys().next().value!);
}
