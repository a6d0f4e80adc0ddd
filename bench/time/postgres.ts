import { startPostgres, type PostgresServer } from "../../test/helpers/postgres/server.ts";
import type { Place, SaverKind } from "./place.ts";
import type { Product } from "./product.ts";

interface Closable {
  close: () => Promise<void>;
}

interface OfficialSaver {
  pool: {
    query: (text: string) => Promise<{ rows: { answer: unknown }[] }>;
    on: (event: "error", listener: () => void) => void;
  };
  setup: () => Promise<void>;
  end: () => Promise<void>;
}

interface PostgresSaverModule {
  PostgresSaver: { fromConnString: (address: string, options: { schema: string }) => OfficialSaver };
}

type Connect = (schema: string) => OfficialSaver;

const PACKAGE: string = "@langchain/langgraph-checkpoint-postgres";
const VARIABLE = "HOLDFAST_BENCH_POSTGRES";

export interface PostgresSavers {
  savers: SaverKind[];
  note: string;
  stop: () => Promise<void>;
}

/**
 * LangGraph's own Postgres saver and ours, each run in a schema of its own, and a note on the server. Throws where none
 * answers.
 */
export async function postgresSavers(
  names: { official: string; ours: string },
  { storage }: Product,
): Promise<PostgresSavers> {
  const { PostgresSaver } = (await import(PACKAGE)) as PostgresSaverModule;
  const given = process.env[VARIABLE];
  const own: PostgresServer | undefined = given ? undefined : await startPostgres();
  const address = given ?? own!.url;
  const connect: Connect = (schema) => {
    const saver = PostgresSaver.fromConnString(address, { schema });
    // A pool that has ended may still have connections when the server is stopped.
    saver.pool.on("error", () => {});
    return saver;
  };
  const version = await ask(connect, "SELECT current_setting('server_version') AS answer");
  let runs = 0;
  const schema = (): string => {
    runs += 1;
    return `holdfast_bench_${process.pid}_${runs}`;
  };
  const official = async (at: string): Promise<Closable> => {
    const saver = connect(at);
    // Also makes the pool connect, which is no part of loading a state.
    await saver.setup();
    return Object.assign(saver, { close: () => saver.end() });
  };
  const ours = (at: string): Promise<Closable> => storage.postgresSaver(address, { schema: at });
  return {
    savers: [
      { name: names.official, create: async () => new PostgresPlace(connect, schema(), { open: official }) },
      {
        name: names.ours,
        create: async () => new PostgresPlace(connect, schema(), { open: ours, isCounted: HOLDS_THREADS }),
      },
    ],
    note: `Postgres: server ${String(version)}, ${own ? "started for the benchmark, without flushes to the disk" : "with its own settings"}. Bytes are those of the tables that hold threads, with their indexes; ledger, mailbox, leases and the store's items, which the official saver has no part of, are 0.15 MB more.`,
    stop: async () => own?.stop(),
  };
}

/** Which of our tables hold threads. */
const HOLDS_THREADS = "tablename IN ('threads', 'heads', 'checkpoints', 'writes', 'blobs')";

interface PlaceOptions {
  open: (schema: string) => Promise<Closable>;
  /** Of which tables the bytes count, in SQL. */
  isCounted?: string;
}

class PostgresPlace implements Place {
  readonly #connect: Connect;
  readonly #schema: string;
  readonly #options: PlaceOptions;
  #opened: Closable | undefined;

  constructor(connect: Connect, schema: string, options: PlaceOptions) {
    this.#connect = connect;
    this.#schema = schema;
    this.#options = options;
  }

  async open(): Promise<unknown> {
    await this.#end();
    return (this.#opened = await this.#options.open(this.#schema));
  }

  async close(): Promise<number> {
    await this.#end();
    const tables = `(quote_ident(schemaname) || '.' || quote_ident(tablename))::regclass`;
    const size = `SELECT COALESCE(SUM(pg_total_relation_size(${tables})), 0) AS answer`;
    const { isCounted = "TRUE" } = this.#options;
    const query = `${size} FROM pg_tables WHERE schemaname = '${this.#schema}' AND ${isCounted}`;
    return Number(await ask(this.#connect, query));
  }

  async remove(): Promise<void> {
    await this.#end();
    await ask(this.#connect, `DROP SCHEMA IF EXISTS "${this.#schema}" CASCADE`);
  }

  async #end(): Promise<void> {
    await this.#opened?.close();
    this.#opened = undefined;
  }
}

async function ask(connect: Connect, query: string): Promise<unknown> {
  const saver = connect("public");
  try {
    const { rows } = await saver.pool.query(query);
    return rows[0]?.answer;
  } finally {
    await saver.end();
  }
}
