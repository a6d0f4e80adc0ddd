import { Client } from "pg";

/** The notification channels of processes that share a database. */
export const CHANNELS = {
  events: "holdfast_events",
  stop: "holdfast_stop",
  ended: "holdfast_ended",
  removed: "holdfast_removed",
} as const;
export type Channel = keyof typeof CHANNELS;

/** The interval of checks whether the connection still works: a cut cable raises no error. */
const TRY_MS = 2000;
const RETRY_MS = 200;

/**
 * Receives notifications of the database, on a connection of its own that is replaced when it breaks. Listens only to
 * channels with a listener in this process.
 */
export class Signals {
  readonly #url: string;
  readonly #listeners = new Map<string, Set<(payload: string) => void>>();
  readonly #returns = new Set<() => void>();
  #client: Client | undefined;
  /** The last query; the queries of a connection run one after the other. */
  #queries: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(url: string) {
    this.#url = url;
  }

  /** Throws if the database cannot be reached. */
  async open(): Promise<void> {
    await this.#connect();
    this.#timer = setInterval(() => void this.#check(), TRY_MS).unref();
  }

  on(channel: Channel, listener: (payload: string) => void): void {
    const name = CHANNELS[channel];
    const existing = this.#listeners.get(name);
    const all = existing ?? new Set();
    this.#listeners.set(name, all.add(listener));
    const client = this.#client;
    if (!existing && client) void this.#query(client, `LISTEN ${name}`);
  }

  /** Resolves when all channels are listened to. `onReturn` makes up for a connection that is lost meanwhile. */
  async listening(): Promise<void> {
    await this.#queries;
  }

  /** `callback` runs after each reconnection, as the notifications in between are lost. */
  onReturn(callback: () => void): void {
    this.#returns.add(callback);
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
      for (const listener of this.#listeners.get(channel) ?? []) listener(payload);
    });
    try {
      await client.connect();
      for (const name of this.#listeners.keys()) await client.query(`LISTEN ${name}`);
    } catch (error) {
      // Not awaited: a dead connection never ends.
      void client.end().catch(() => {});
      throw error;
    }
    this.#client = client;
  }

  async #check(): Promise<void> {
    if (this.#client) await this.#query(this.#client, "SELECT 1");
  }

  /** Does not throw. */
  #query(client: Client, sql: string): Promise<void> {
    this.#queries = this.#queries.then(() => client.query(sql)).catch(() => this.#lose(client));
    return this.#queries as Promise<void>;
  }

  #lose(client: Client): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    void client.end().catch(() => {});
    void this.#reconnect();
  }

  async #reconnect(): Promise<void> {
    while (!this.#isClosed) {
      try {
        await this.#connect();
        for (const callback of this.#returns) callback();
        return;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }
}
