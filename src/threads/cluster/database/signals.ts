import { Client } from "pg";

/** The notification channels of processes that share a database. */
export const CHANNELS = {
  events: "holdfast_events",
  stop: "holdfast_stop",
  ended: "holdfast_ended",
  removed: "holdfast_removed",
} as const;
export type Channel = keyof typeof CHANNELS;

/** The interval of checks that the connection still works; a cut cable raises no error. */
const TRY_MS = 2000;
const RETRY_MS = 200;

/**
 * Hears what others say through the database, on a connection of its own that is made again whenever it breaks. Only
 * what somebody here wants to hear is sent to this process.
 */
export class Signals {
  readonly #url: string;
  readonly #hearers = new Map<string, Set<(payload: string) => void>>();
  readonly #returns = new Set<() => void>();
  #client: Client | undefined;
  #asked: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(url: string) {
    this.#url = url;
  }

  /** Throws where the database cannot be reached at all. */
  async open(): Promise<void> {
    await this.#connect();
    this.#timer = setInterval(() => void this.#try(), TRY_MS).unref();
  }

  on(channel: Channel, hear: (payload: string) => void): () => void {
    const name = CHANNELS[channel];
    const known = this.#hearers.get(name);
    const all = known ?? new Set();
    this.#hearers.set(name, all.add(hear));
    const client = this.#client;
    if (!known && client) void this.#ask(client, `LISTEN ${name}`);
    return () => void all.delete(hear);
  }

  /** Resolves when all is heard that was asked for. A connection that is lost meanwhile is made up for by `onReturn`. */
  async hearing(): Promise<void> {
    await this.#asked;
  }

  /** Called when it hears again after it did not: what was said meanwhile has to be looked up. */
  onReturn(look: () => void): void {
    this.#returns.add(look);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#client?.end().catch(() => {});
  }

  async #connect(): Promise<void> {
    const client = new Client({ connectionString: this.#url, keepAlive: true, query_timeout: TRY_MS });
    client.on("error", () => this.#lose(client));
    client.on("end", () => this.#lose(client));
    client.on("notification", ({ channel, payload = "" }) => {
      for (const hear of this.#hearers.get(channel) ?? []) hear(payload);
    });
    try {
      await client.connect();
      for (const name of this.#hearers.keys()) await client.query(`LISTEN ${name}`);
    } catch (error) {
      // Not waited for: a connection that carries nothing never says that it has ended.
      void client.end().catch(() => {});
      throw error;
    }
    this.#client = client;
  }

  async #try(): Promise<void> {
    if (this.#client) await this.#ask(this.#client, "SELECT 1");
  }

  /** One after the other: a connection has no line for what it is asked. Does not throw. */
  #ask(client: Client, sql: string): Promise<void> {
    this.#asked = this.#asked.then(() => client.query(sql)).catch(() => this.#lose(client));
    return this.#asked as Promise<void>;
  }

  #lose(client: Client): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    void client.end().catch(() => {});
    void this.#again();
  }

  async #again(): Promise<void> {
    while (!this.#isClosed) {
      try {
        await this.#connect();
        for (const look of this.#returns) look();
        return;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }
}
