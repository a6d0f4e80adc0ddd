import { createHash } from "node:crypto";
import { ToolMessage, type BaseMessage, AIMessage } from "@langchain/core/messages";
import { changedLines, decodeText, numberedLines } from "../../../files/text/index.ts";
import { setBounded } from "../../state/index.ts";
import { HELD_TEXTS } from "../files.prompt.ts";
import { applyEdits, textEdits } from "./text-edits.ts";

/** A version of a file that a call has shown to the model or written: kept in the artifact of the call's result. */
export interface SeenFile {
  path: string;
  hash: string;
  /** The number of lines shown from the start; absent for all. */
  lines?: number;
  /** The hash of a held-back text, if the file's differences from that text were shown. */
  held?: string;
}

/** The version of a file that a result has shown to the model or written. */
export function seenIn(message: BaseMessage): SeenFile | undefined {
  if (!ToolMessage.isInstance(message)) return undefined;
  const { seen } = (message.artifact ?? {}) as { seen?: Partial<SeenFile> };
  const { path, hash } = seen ?? {};
  return typeof path === "string" && typeof hash === "string" ? { ...seen, path, hash } : undefined;
}

/** A short hash, as it is stored in every result; collisions are of no use to anyone. */
export function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("base64url").slice(0, 16);
}

/** The context of a call. */
interface SightingContext {
  /** The conversation, with the results of the turn's earlier calls if available. */
  messages: readonly BaseMessage[];
  /** Keys of the call and of the earlier calls of its turn that change files, unique among turns. */
  call: string;
  earlier: readonly string[];
  thread: string;
  /** When the thread began to use its files, if known. */
  since: number | undefined;
}

/** The files that the model has seen before a call, and the one that the call shows. */
export class Sightings {
  readonly #seen: Map<string, SeenFile>;
  readonly #context: SightingContext;
  #isReplay = true;
  /** The file that this call has shown last. */
  latest: SeenFile | undefined;

  constructor(context: SightingContext) {
    const seen = context.messages.flatMap((message) => seenIn(message) ?? []);
    this.#seen = new Map(seen.map((file) => [file.path, file]));
    this.#context = context;
  }

  get since(): number | undefined {
    return this.#context.since;
  }

  get thread(): string {
    return this.#context.thread;
  }

  /** The sightings of a version of a file, including those by earlier calls of the turn. */
  #seenOf(path: string, hash: string): SeenFile[] {
    const inTurn = this.#context.earlier.flatMap((call) => shownBy.get(call) ?? []);
    return [...inTurn, this.#seen.get(path)].filter(
      (seen): seen is SeenFile => seen?.path === path && seen.hash === hash,
    );
  }

  /** Whether a version of a file was seen in whole, or all of it that `text` would replace. */
  isSeenWhole(path: string, bytes: Uint8Array, text: string): boolean {
    const held = hashOf(Buffer.from(text));
    return this.#seenOf(path, hashOf(bytes)).some((seen) => seen.lines === undefined || seen.held === held);
  }

  /** The lines from the start of a file that have been seen; Infinity for all. */
  linesSeen(path: string, bytes: Uint8Array): number {
    return Math.max(0, ...this.#seenOf(path, hashOf(bytes)).map(({ lines = Infinity }) => lines));
  }

  /** Describes a file's differences from its last sighting; undefined without differences or sighting. */
  newsOf(path: string, now: string): string | undefined {
    const hash = this.#seen.get(path)?.hash;
    if (hash === undefined || this.#seenOf(path, hashOf(Buffer.from(now))).length > 0) return undefined;
    const before = texts.get(hash) ?? seenText(this.#context.messages, { path, hash });
    const changes = before === undefined ? undefined : changedLines(before, now);
    return changes === undefined ? HELD_TEXTS.changed : `${HELD_TEXTS.changedLines}\n${changes}`;
  }

  /** Whether a tool result contains a text, such as the output of a command that printed a file. */
  wasPrinted(text: string): boolean {
    const printed = text.trimEnd();
    // A short text appears in many unrelated results.
    if (printed.length < SHORTEST_PRINTED) return false;
    return this.#context.messages.some(
      (message) => ToolMessage.isInstance(message) && `\n${message.text}\n`.includes(`\n${printed}\n`),
    );
  }

  /** Records the version of a file that a call has shown or written. `part`: how much of it, if not all. */
  note(path: string, bytes: Uint8Array, part: Pick<SeenFile, "lines" | "held"> = {}): void {
    const hash = hashOf(bytes);
    const seen: SeenFile = { path, hash, ...part };
    this.#seen.set(path, seen);
    const text = bytes.length <= MAX_TEXT ? decodeText(bytes, path) : undefined;
    if (text?.ok) setBounded(texts, hash, text.content);
    if (this.#isReplay) return;
    this.latest = seen;
    setBounded(shownBy, this.#context.call, this.latest);
  }

  /** Ends the replay of earlier calls, and begins the call itself. */
  begin(): void {
    this.#isReplay = false;
  }
}

/** Files shown in this process, by key of the call: a turn's results enter the conversation only at its end. */
const shownBy = new Map<string, SeenFile>();
/** File contents seen in this process, by hash: the conversation may not have them any more. */
const texts = new Map<string, string>();
const SHORTEST_PRINTED = 12;
const MAX_TEXT = 100_000;

/**
 * Reconstructs a version of a file from the reads, writes and edits in a conversation. Undefined if the conversation
 * does not have all of it.
 */
export function seenText(messages: readonly BaseMessage[], { path, hash }: SeenFile): string | undefined {
  let text: string | undefined;
  let pages = new Map<number, string>();
  let calls: NonNullable<AIMessage["tool_calls"]> = [];
  for (const message of messages) {
    if (AIMessage.isInstance(message)) calls = message.tool_calls ?? [];
    const seen = seenIn(message);
    if (!ToolMessage.isInstance(message) || seen?.path !== path) continue;
    const args = calls.find(({ id }) => id === message.tool_call_id)?.args ?? {};
    if (message.name === "read_file") {
      pages = new Map([...pages, ...numberedLines(message.text)]);
      text = joined(pages, seen.hash) ?? joined(numberedLines(message.text), seen.hash) ?? text;
    } else {
      pages = new Map();
      text = textAfter(message.name, args, text);
    }
    if (text !== undefined && hashOf(Buffer.from(text)) !== seen.hash) text = undefined;
    if (seen.hash === hash && text !== undefined) return text;
  }
  return undefined;
}

function textAfter(
  name: string | undefined,
  args: Record<string, unknown>,
  text: string | undefined,
): string | undefined {
  if (name === "write_file") return typeof args["content"] === "string" ? args["content"] : undefined;
  if (name !== "edit_file" || text === undefined) return undefined;
  const edited = applyEdits(text, textEdits(args));
  return edited.ok ? edited.content : undefined;
}

/** Joins the lines of a file; undefined if the result does not have the hash, as lines are missing or cut. */
export function joined(lines: ReadonlyMap<number, string>, hash: string): string | undefined {
  const inOrder = [...lines].toSorted(([a], [b]) => a - b).map(([, line]) => line);
  return ["\n", "\r\n"]
    .flatMap((ending) => [inOrder.join(ending) + ending, inOrder.join(ending)])
    .find((text) => hashOf(Buffer.from(text)) === hash);
}
