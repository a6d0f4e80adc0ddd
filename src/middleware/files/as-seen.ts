import { createHash } from "node:crypto";
import { ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { changedLines } from "../../files/changed-lines.ts";
import { exclusive } from "../../files/exclusive.ts";
import { fail } from "../../files/failures.ts";
import type { Failure, FileBackend } from "../../files/index.ts";
import { parsePath } from "../../files/paths.ts";
import { decodeText } from "../../files/text.ts";

/** A file as a call has shown it to the model, or left it: kept in the artifact of the call's result. */
export interface SeenFile {
  path: string;
  hash: string;
}

/** What a call finds seen, and what it shows in its turn. */
export class Sightings {
  readonly #known: Map<string, string>;
  readonly #call: string;
  readonly #earlier: readonly string[];
  #isReplay = true;
  /** What this call itself has shown. */
  latest: SeenFile | undefined;

  /** `call` and `earlier`, which change files and stand before it in its turn, are names that no other turn has. */
  constructor(messages: readonly BaseMessage[], call: string, earlier: readonly string[]) {
    const seen = messages.flatMap((message) => seenIn(message) ?? []);
    this.#known = new Map(seen.map(({ path, hash }) => [path, hash]));
    this.#call = call;
    this.#earlier = earlier;
  }

  /** The hash of a file as it was last seen; of two in this turn, `now` if it is one of them. */
  of(path: string, now: string): string | undefined {
    const isOwn = this.#earlier.some((call) => isSame(shownBy.get(call), { path, hash: now }));
    return isOwn ? now : this.#known.get(path);
  }

  note(path: string, bytes: Uint8Array): void {
    const hash = hashOf(bytes);
    this.#known.set(path, hash);
    const text = bytes.length <= MAX_TEXT ? decodeText(bytes, path) : undefined;
    if (text?.ok) setBounded(texts, hash, text.content);
    if (this.#isReplay) return;
    this.latest = { path, hash };
    setBounded(shownBy, this.#call, this.latest);
  }

  /** From here on the call itself is made, and no longer those before it. */
  begin(): void {
    this.#isReplay = false;
  }
}

/**
 * The backend, held to what was seen: a file that is there is replaced or edited only as it was when the model last
 * read or wrote it. What has changed since is said in the refusal, and with that is seen.
 */
export function asSeen(backend: FileBackend, sightings: Sightings): FileBackend {
  const refusal = async (path: string, content?: string): Promise<Failure | undefined> => {
    const now = await backend.readBytes(path);
    if (!now.ok) return now.reason === "too-large" ? tooLarge(now) : undefined;
    const hash = hashOf(now.bytes);
    const seen = sightings.of(path, hash);
    // To write what is there already changes nothing, as when a call is made again after a crash.
    if (hash === seen || (content !== undefined && hash === hashOf(Buffer.from(content)))) return undefined;
    if (seen === undefined) return fail(`"${path}" was not changed: you have not read it. Read it first.`);
    const [before, after] = [texts.get(seen), decodeText(now.bytes, path)];
    const changes = before !== undefined && after.ok ? changedLines(before, after.content) : undefined;
    const what = `"${path}" was not changed: it is no longer as you saw it`;
    if (changes === undefined) return fail(`${what}. Read it again.`);
    sightings.note(path, now.bytes);
    return fail(`${what}. Call again if your change still fits. What has changed:\n${changes}`);
  };
  return {
    list: (path, options) => backend.list(path, options),
    read: async (raw) => {
      const file = await backend.read(raw);
      if (file.ok) sightings.note(plain(raw), Buffer.from(file.content));
      return file;
    },
    readBytes: async (raw) => {
      const file = await backend.readBytes(raw);
      if (file.ok) sightings.note(plain(raw), file.bytes);
      return file;
    },
    write: (raw, content) =>
      inTurn(raw, async (path) => {
        const problem = await refusal(path, content);
        if (problem) return problem;
        const written = await backend.write(raw, content);
        if (written.ok) sightings.note(path, Buffer.from(content));
        return written;
      }),
    edit: (raw, edit) =>
      inTurn(raw, async (path) => {
        const problem = await refusal(path);
        if (problem) return problem;
        const edited = await backend.edit(raw, edit);
        const now = edited.ok ? await backend.readBytes(path) : undefined;
        if (now?.ok) sightings.note(path, now.bytes);
        return edited;
      }),
    writeBytes: (path, bytes) => backend.writeBytes(path, bytes),
    delete: (path) => backend.delete(path),
    glob: (pattern, scope) => backend.glob(pattern, scope),
    grep: (query) => backend.grep(query),
    route: (path) => ({ backend, path }),
    ...(backend.locate && { locate: backend.locate.bind(backend) }),
    ...(backend.execute && { execute: backend.execute.bind(backend) }),
  };
}

/** One after the other for each path: what a call has written, the next one of its turn has seen. */
function inTurn<T>(raw: string, task: (path: string) => Promise<T>): Promise<T> {
  const path = plain(raw);
  return exclusive(shownBy, path, () => task(path));
}

function plain(raw: string): string {
  const parsed = parsePath(raw);
  return parsed.ok ? parsed.path : raw;
}

/** The file that a result has shown to the model, or left. */
export function seenIn(message: BaseMessage): SeenFile | undefined {
  if (!ToolMessage.isInstance(message)) return undefined;
  const { seen } = (message.artifact ?? {}) as { seen?: Partial<SeenFile> };
  const { path, hash } = seen ?? {};
  return typeof path === "string" && typeof hash === "string" ? { path, hash } : undefined;
}

function isSame(one: SeenFile | undefined, other: SeenFile): boolean {
  return one?.path === other.path && one.hash === other.hash;
}

/** Short, as every result has one; to find another text for it gains nothing. */
export function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("base64url").slice(0, 16);
}

function tooLarge({ error }: Failure): Failure {
  return fail(`${error} What cannot be read is not replaced: delete it first.`, "too-large");
}

/** What calls have shown in this process: the results of a turn are not in the conversation before its end. */
const shownBy = new Map<string, SeenFile>();
/** Texts that were seen in this process, by hash. After a restart it is known that a file has changed, not how. */
const texts = new Map<string, string>();
const MAX_TEXT = 100_000;
const MAX_ENTRIES = 200;

/** Sets an entry, and forgets the oldest where there are too many. */
function setBounded<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > MAX_ENTRIES) map.delete(map.keys().next().value!);
}
