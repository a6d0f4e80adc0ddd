import type { Blob, BlobKind, BlobSink, BlobSource, Gathered, Recent } from "../../codec/index.ts";
import { hashOf } from "../../store/index.ts";
import { BLOBS, corrupt, type Database, type Row } from "../database/index.ts";

/** A blob as it was read; `name` is that of its content. */
export interface NamedBlob extends Blob {
  name: string;
}

/** The blobs that were last read or written, of all threads: by thread and number. */
export type RecentBlobs = Recent<string, NamedBlob>;

/** A blob that is still to be written. */
export interface FreshBlob {
  id: number;
  kind: BlobKind;
  body: string | Uint8Array;
  name: string;
}

const MAX_KNOWN = 50_000;

/**
 * The blobs of one thread, as its one writer knows them: who may write gives out the numbers, so that nothing has to be
 * asked for. Content that was neither written nor read from here may be stored once more.
 */
export class ThreadBlobs implements BlobSink, BlobSource {
  readonly #database: Database;
  readonly #recent: RecentBlobs;
  #known = new Map<string, number>();
  #fresh: FreshBlob[] = [];
  #last: number;

  constructor(database: Database, recent: RecentBlobs, last: number) {
    this.#database = database;
    this.#recent = recent;
    this.#last = last;
  }

  /** The number of the newest. */
  get last(): number {
    return this.#last;
  }

  put(_thread: number, kind: BlobKind, body: string | Uint8Array): number {
    const name = hashOf(kind, body).toString("latin1");
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    this.#last += 1;
    this.#know(name, this.#last);
    this.#fresh.push({ id: this.#last, kind, body, name });
    return this.#last;
  }

  /** What was put since this was last asked, to be written. */
  take(): FreshBlob[] {
    const fresh = this.#fresh;
    this.#fresh = [];
    return fresh;
  }

  /** What was taken is stored now. */
  keep(thread: number, fresh: readonly FreshBlob[]): void {
    for (const { id, kind, body, name } of fresh) {
      this.#recent.add(`${thread} ${id}`, { thread, kind, size: body.length, body, name });
    }
  }

  read(thread: number, ids: readonly number[]): Map<number, Blob> | Promise<Map<number, Blob>> {
    const found = new Map<number, Blob>();
    const missing: number[] = [];
    for (const id of ids) {
      const recent = this.#recent.get(`${thread} ${id}`);
      if (recent) this.#add(found, id, recent);
      else missing.push(id);
    }
    return missing.length === 0 ? found : this.#fetch(thread, missing, found);
  }

  gather(thread: number, id: number, gathered: Gathered): void {
    const key = `${thread} ${id}`;
    const parts = this.#recent.get(key)?.parts ?? [];
    this.#recent.gather(
      key,
      parts.map((part) => `${thread} ${part}`),
      gathered,
    );
  }

  async #fetch(thread: number, ids: readonly number[], found: Map<number, Blob>): Promise<Map<number, Blob>> {
    const rows = await this.#database.query({
      name: "holdfast-blobs",
      text: `SELECT id, kind, body, seal FROM ${this.#database.schema}.blobs WHERE thread = $1 AND id = ANY($2::int[])`,
      values: [thread, ids],
    });
    for (const row of rows) {
      const blob = blobOf(thread, row);
      const id = row["id"] as number;
      if (!blob) throw corrupt(this.#database, `blob ${id} does not match its checksum`);
      this.#recent.add(`${thread} ${id}`, blob);
      this.#add(found, id, blob);
    }
    const missing = ids.find((id) => !found.has(id));
    if (missing !== undefined) throw corrupt(this.#database, `blob ${missing} is missing`);
    return found;
  }

  #add(found: Map<number, Blob>, id: number, blob: NamedBlob): void {
    found.set(id, blob);
    this.#know(blob.name, id);
    blob.gathered?.messages.forEach((message, at) =>
      this.#know((message as NamedBlob).name, blob.parts![at]!),
    );
  }

  #know(name: string, id: number): void {
    if (this.#known.size > MAX_KNOWN) this.#known.clear();
    this.#known.set(name, id);
  }
}

/** A blob out of its row; undefined where it is not what was written. */
export function blobOf(thread: number, { id, kind, body, seal }: Row): NamedBlob | undefined {
  const content = kind === "bytes" ? Buffer.from(body as string, "base64") : (body as string);
  const hash = hashOf(kind as BlobKind, content);
  if (!BLOBS.isWhole({ thread, id, hash, seal })) return undefined;
  return {
    thread,
    kind: kind as BlobKind,
    size: content.length,
    body: content,
    name: hash.toString("latin1"),
  };
}
