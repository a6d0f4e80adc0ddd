import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { MessageContent } from "@langchain/core/messages";
import type { BaseCheckpointSaver } from "@langchain/langgraph";
import { HarnessError, type HarnessErrorCode } from "../../errors.ts";
import type { Conflict } from "../../plan/apply/index.ts";
import type { Todo } from "../../plan/index.ts";
import type { Letter, Mailbox, ThreadStore } from "../../storage/index.ts";
import { PlanConflict, type PlanEdit, PlanEdits, type Said } from "../plan/index.ts";
import { Thread } from "../thread/index.ts";

/** A request to the process that runs a thread: an edit of its plan, or a message to its agent. */
type Content = PlanEdit | { say: Said; isKept?: true };

type Outcome =
  | { todos: Todo[] }
  | { code: HarnessErrorCode; message: string; conflict?: { conflicts: Conflict[]; todos: Todo[] } };

/** The interval at which a run polls for requests of other processes, and they for its answers. */
const LOOK_MS = 200;

/** Gives the edits and messages of other processes to the run of a thread, and answers them. */
export class MailboxService {
  readonly #thread: Thread;
  readonly #edits: PlanEdits;
  /** Letters in work or answered, by id. */
  readonly #served = new Map<number, Promise<void>>();
  #round: MailRound | undefined;
  #cachedMailbox: Mailbox | undefined;
  #isOver = false;

  constructor(thread: Thread, edits: PlanEdits) {
    this.#thread = thread;
    this.#edits = edits;
  }

  /**
   * Call before the first step: the current plan shows whether a killed process has finished an edit that it began. Throws
   * if the mailbox cannot be read.
   */
  async start(): Promise<void> {
    const waiting = await this.#waiting();
    for (const letter of waiting) await this.#finishBegun(letter);
    if (waiting.length > 0) await this.#look();
    this.#round = MailRound.of(saverOf(this.#thread));
    this.#round?.add(this.#thread.id, this.#lookAgain);
  }

  /** Takes the letters that have come by now, and no more. */
  async stop(): Promise<void> {
    this.#round?.remove(this.#thread.id, this.#lookAgain);
    await this.#look();
    this.#isOver = true;
  }

  /** Resolves when all letters that were taken are answered. */
  async answered(): Promise<void> {
    await Promise.all(this.#served.values());
  }

  /** Undefined for a new thread before its first step. */
  async #mailbox(): Promise<Mailbox | undefined> {
    return (this.#cachedMailbox ??= await mailboxOf(this.#thread));
  }

  async #waiting(): Promise<Letter[]> {
    return (await (await this.#mailbox())?.waiting()) ?? [];
  }

  async #finishBegun({ id, begun }: Letter): Promise<void> {
    const todos = await this.#thread.todos();
    if (Array.isArray(begun) && isDeepStrictEqual(todos, begun))
      await (await this.#mailbox())?.answer(id, { todos });
  }

  async #make(letter: number, content: Content): Promise<Todo[]> {
    const begin = async (work: unknown): Promise<void> => (await this.#mailbox())?.begin(letter, work);
    if (!("say" in content)) return this.#edits.submit(content, begin);
    // The id keeps a message from being added twice when it is repeated after a kill.
    const { id, content: message } = content.say;
    await this.#edits.say(message, { id, begin: () => begin(id) });
    return [];
  }

  readonly #lookAgain = (): void => void this.#look();

  async #look(): Promise<void> {
    try {
      const waiting = await this.#waiting();
      // After a slow read the letters may be for the next holder.
      if (this.#isOver) return;
      for (const letter of waiting) {
        if (!this.#served.has(letter.id)) this.#served.set(letter.id, this.#serve(letter));
      }
    } catch {
      // For example a locked file: the next poll makes up for it.
    }
  }

  async #serve({ id, content }: Letter): Promise<void> {
    const outcome = await this.#make(id, content as Content).then((todos): Outcome => ({ todos }), toOutcome);
    // A kept message waits for the next run.
    if ("isKept" in (content as Content) && isUnread(outcome)) return;
    try {
      await (await this.#mailbox())?.answer(id, outcome);
    } catch {
      // The next holder of the thread finds the letter started, and answers it.
    }
  }
}

/** The poll for letters of all runs on one checkpointer: a single query finds the threads with letters. */
class MailRound {
  static readonly #rounds = new WeakMap<MailSaver, MailRound>();
  readonly #saver: MailSaver;
  readonly #looks = new Map<string, Set<() => void>>();
  #timer: NodeJS.Timeout | undefined;
  /** Whether a poll is running: it may take longer than the interval. */
  #isLooking = false;

  /** Looks for the letters of one thread at once, if it runs in this process. */
  static look(saver: MailSaver, thread: string): void {
    const round = this.#rounds.get(saver);
    for (const look of round?.looksOf(thread) ?? []) look();
  }

  private constructor(saver: MailSaver) {
    this.#saver = saver;
  }

  looksOf(thread: string): Iterable<() => void> {
    return this.#looks.get(thread) ?? [];
  }

  static of(saver: MailSaver | undefined): MailRound | undefined {
    if (!saver) return undefined;
    const round = this.#rounds.get(saver) ?? new MailRound(saver);
    this.#rounds.set(saver, round);
    return round;
  }

  add(thread: string, look: () => void): void {
    this.#looks.set(thread, (this.#looks.get(thread) ?? new Set()).add(look));
    this.#timer ??= setInterval(() => void this.#go(), LOOK_MS).unref();
  }

  remove(thread: string, look: () => void): void {
    const looks = this.#looks.get(thread);
    looks?.delete(look);
    if (looks?.size === 0) this.#looks.delete(thread);
    if (this.#looks.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #go(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      for (const thread of await this.#saver.threadsWithMail()) {
        for (const look of this.looksOf(thread)) look();
      }
    } catch {
      // The next poll makes up for it.
    } finally {
      this.#isLooking = false;
    }
  }
}

export interface RequestOptions {
  /** Withdraws the request, unless it is being carried out. */
  signal?: AbortSignal;
  /** Called once if the request has to wait for the process that runs the thread. */
  onWait?: () => void;
}

/**
 * Edits a thread's plan: through the process that runs the thread, or here if there is none. Throws what `writePlan`
 * throws, and `edit-withdrawn`.
 */
export async function requestEdit(
  thread: Thread,
  edit: PlanEdit,
  options: RequestOptions = {},
): Promise<Todo[]> {
  const mailbox = await mailboxOf(thread);
  return mailbox ? ask(thread, { mailbox, content: edit, ...options }) : thread.writePlan(edit);
}

/**
 * Sends a message to the agent at work on a thread, in any process. Throws `run-ended` if there is none: then the message
 * is the next task.
 */
export async function requestSay(
  thread: Thread,
  content: MessageContent,
  options: RequestOptions = {},
): Promise<void> {
  const mailbox = await mailboxOf(thread);
  if (!mailbox) throw notAtWork();
  await ask(thread, { mailbox, content: { say: { id: crypto.randomUUID(), content } }, ...options });
}

/** Stores a message for the agent at work on a thread, in any process. Undefined for a thread that is not saved yet. */
export async function keepMessage(thread: Thread, content: MessageContent): Promise<KeptMessage | undefined> {
  const saver = saverOf(thread);
  const mailbox = await mailboxOf(thread);
  if (!saver || !mailbox) return undefined;
  const letter: Content = { say: { id: crypto.randomUUID(), content }, isKept: true };
  const message = new KeptMessage(mailbox, await mailbox.post(letter), content);
  MailRound.look(saver, thread.id);
  return message;
}

/** The messages that no agent has read yet. */
export async function keptMessages(thread: Thread): Promise<KeptMessage[]> {
  const mailbox = await mailboxOf(thread);
  return ((await mailbox?.waiting()) ?? []).flatMap(({ id, content }) => {
    const letter = content as Content;
    return "say" in letter && letter.isKept ? [new KeptMessage(mailbox!, id, letter.say.content)] : [];
  });
}

/** A stored message, which the agent at work reads, or the next run. */
export class KeptMessage {
  readonly content: MessageContent;
  readonly #mailbox: Mailbox;
  readonly #letter: number;

  constructor(mailbox: Mailbox, letter: number, content: MessageContent) {
    this.#mailbox = mailbox;
    this.#letter = letter;
    this.content = content;
  }

  /** Whether it needs no more care: an agent has read it, or another process has taken it back. */
  async isRead(): Promise<boolean> {
    try {
      return (await this.#mailbox.fetch(this.#letter)) !== undefined;
    } catch (error) {
      if (HarnessError.from(error)?.code === "edit-withdrawn") return true;
      throw error;
    }
  }

  /** Returns false when an agent is reading it, or another process has taken it back. */
  takeBack(): Promise<boolean> {
    return this.#mailbox.withdraw(this.#letter);
  }
}

async function ask(
  thread: Thread,
  { mailbox, content, signal, onWait }: RequestOptions & { mailbox: Mailbox; content: Content },
): Promise<Todo[]> {
  const id = await mailbox.post(content);
  for (let isFirst = true; ; isFirst = false) {
    const release = await acquireIfFree(thread);
    try {
      if (release) await makeAll(thread);
    } finally {
      await release?.();
    }
    const outcome = (await mailbox.fetch(id)) as Outcome | undefined;
    if (outcome) return fromOutcome(outcome);
    if (isFirst) onWait?.();
    if (signal?.aborted) await mailbox.withdraw(id);
    await sleep(LOOK_MS / 2);
  }
}

/** Carries out the letters of a thread that this process holds. */
async function makeAll(thread: Thread): Promise<void> {
  const edits = new PlanEdits();
  edits.open({
    write: (edit, begin) => thread.writePlan(edit, begin),
    say: () => Promise.reject(notAtWork()),
    sayToHelper: () => false,
  });
  const service = new MailboxService(thread, edits);
  await service.start();
  await service.stop();
  await edits.close();
  await service.answered();
}

function notAtWork(): HarnessError {
  return new HarnessError(
    "run-ended",
    "No agent is working on the thread: send the message as the next task.",
  );
}

/** Acquires a thread; undefined if another process holds it. */
async function acquireIfFree(thread: Thread): Promise<(() => Promise<void>) | undefined> {
  try {
    return await thread.acquire();
  } catch (error) {
    if (HarnessError.from(error)?.code === "thread-busy") return undefined;
    throw error;
  }
}

type MailSaver = Pick<ThreadStore, "mailbox" | "threadsWithMail">;

/** The checkpointer, if it has mailboxes. */
function saverOf({ agent: { graph } }: Thread): MailSaver | undefined {
  const { checkpointer } = graph as { checkpointer?: BaseCheckpointSaver | boolean };
  const saver = checkpointer as MailSaver | boolean | undefined;
  return typeof saver === "object" && "mailbox" in saver ? saver : undefined;
}

async function mailboxOf(thread: Thread): Promise<Mailbox | undefined> {
  return saverOf(thread)?.mailbox(thread.id);
}

/** Whether no model call followed in the run that got a message. */
function isUnread(outcome: Outcome): boolean {
  return "code" in outcome && (outcome.code === "run-ended" || outcome.code === "turn-unfinished");
}

function toOutcome(error: unknown): Outcome {
  const cause = HarnessError.from(error);
  const { code = "storage-failed" as const, message } = cause ?? (error as Error & { code?: undefined });
  if (!(cause instanceof PlanConflict)) return { code, message };
  return { code, message, conflict: { conflicts: [...cause.conflicts], todos: [...cause.todos] } };
}

function fromOutcome(outcome: Outcome): Todo[] {
  if ("todos" in outcome) return outcome.todos;
  const { code, message, conflict } = outcome;
  throw conflict ? new PlanConflict(message, conflict) : new HarnessError(code, message);
}
