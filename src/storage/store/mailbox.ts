import { HarnessError } from "../../errors.ts";
import { put, remove, select, type RecordRow, type Records, type Script } from "./records.ts";

/** A letter in a mailbox. */
export interface Letter {
  id: number;
  content: unknown;
  /** The work that its reader has started, if any. */
  begun?: unknown;
}

/** The age at which an answer that no one has fetched is deleted. */
const ANSWER_MAX_AGE_MS = 24 * 60 * 60 * 1000;

/**
 * Requests of other processes to the holder of a thread, and its answers. Each step is one transaction, so that a killed
 * process never leaves one half done.
 */
export class Mailbox {
  readonly #records: Records;
  readonly #thread: number;

  /** @internal Made by the stores; `thread` is its number. */
  constructor(records: Records, thread: number) {
    this.#records = records;
    this.#thread = thread;
  }

  async post(content: unknown): Promise<number> {
    const id = await this.#records.newLetterId();
    const row = { id, thread: this.#thread, at: Date.now(), content: JSON.stringify(content) };
    await this.#records.write(() => put("edits", { ...row, begun: null, outcome: null }));
    return id;
  }

  /** The letters without an answer, oldest first. */
  async waiting(): Promise<Letter[]> {
    const unanswered = "WHERE thread = ? AND outcome IS NULL ORDER BY edits.id";
    const rows = await this.#records.read(() => select("edits", unanswered, this.#thread));
    return rows.map(toLetter);
  }

  /** Records the work that is about to be done. Throws `edit-withdrawn` when the letter was taken back. */
  async begin(id: number, begun: unknown): Promise<void> {
    const find = this.#find(id);
    await this.#records.transaction(function* () {
      const row = yield* find();
      if (!row || row.outcome !== null) throw editWithdrawn();
      yield* put("edits", { ...row, begun: JSON.stringify(begun) });
    });
  }

  async answer(id: number, outcome: unknown): Promise<void> {
    const find = this.#find(id);
    const old = [this.#thread, Date.now() - ANSWER_MAX_AGE_MS] as const;
    await this.#records.transaction(function* () {
      const row = yield* find();
      if (row) yield* put("edits", { ...row, outcome: JSON.stringify(outcome) });
      yield* remove("edits", "WHERE thread = ? AND at < ? AND outcome IS NOT NULL", ...old);
    });
  }

  /** Removes and returns the answer; undefined while there is none. Throws `edit-withdrawn`. */
  async fetch(id: number): Promise<unknown> {
    const row = await this.#records.read(this.#find(id));
    if (!row) throw editWithdrawn();
    if (row.outcome === null) return undefined;
    await this.#records.write(() => remove("edits", "WHERE id = ?", id));
    return JSON.parse(row.outcome) as unknown;
  }

  /** Takes a letter back. Returns false when it is too late. */
  async withdraw(id: number): Promise<boolean> {
    const notBegun = "WHERE id = ? AND begun IS NULL AND outcome IS NULL";
    return (await this.#records.write(() => remove("edits", notBegun, id))) > 0;
  }

  #find(id: number): () => Script<RecordRow<"edits"> | undefined> {
    const thread = this.#thread;
    return function* () {
      const [row] = yield* select("edits", "WHERE id = ? AND thread = ?", id, thread);
      return row;
    };
  }
}

function toLetter({ id, content, begun }: RecordRow<"edits">): Letter {
  return {
    id,
    content: JSON.parse(content) as unknown,
    ...(begun !== null && { begun: JSON.parse(begun) as unknown }),
  };
}

function editWithdrawn(): HarnessError {
  return new HarnessError("edit-withdrawn", "The edit was withdrawn.");
}
