import type { Place, SaverKind } from "./place.ts";

interface OfficialSaver {
  pool: { query: (text: string) => Promise<{ rows: { answer: unknown }[] }> };
  setup: () => Promise<void>;
  end: () => Promise<void>;
}

interface PostgresSaverModule {
  PostgresSaver: { fromConnString: (address: string, options: { schema: string }) => OfficialSaver };
}

type Connect = (schema: string) => OfficialSaver;

const PACKAGE: string = "@langchain/langgraph-checkpoint-postgres";
const VARIABLE = "HOLDFAST_BENCH_POSTGRES";

/**
 * LangGraph's own Postgres saver, each run in a schema of its own, and a note on the server. Throws where no server is
 * given or none answers.
 */
export async function postgresSaver(name: string): Promise<{ saver: SaverKind; note: string }> {
  const address = process.env[VARIABLE];
  if (!address) throw new Error(`${VARIABLE} names no server (a connection string).`);
  const { PostgresSaver } = (await import(PACKAGE)) as PostgresSaverModule;
  const connect: Connect = (schema) => PostgresSaver.fromConnString(address, { schema });
  const version = await ask(connect, "SELECT current_setting('server_version') AS answer");
  let runs = 0;
  const create = async (): Promise<Place> => {
    runs += 1;
    return new PostgresPlace(connect, `holdfast_bench_${process.pid}_${runs}`);
  };
  return { saver: { name, create }, note: `Postgres: server ${String(version)}, with its default settings.` };
}

class PostgresPlace implements Place {
  readonly #connect: Connect;
  readonly #schema: string;
  #opened: OfficialSaver | undefined;

  constructor(connect: Connect, schema: string) {
    this.#connect = connect;
    this.#schema = schema;
  }

  async open(): Promise<unknown> {
    await this.#end();
    this.#opened = this.#connect(this.#schema);
    // Also makes the pool connect, which is no part of loading a state.
    await this.#opened.setup();
    return this.#opened;
  }

  async close(): Promise<number> {
    await this.#end();
    const tables = `(quote_ident(schemaname) || '.' || quote_ident(tablename))::regclass`;
    const size = `SELECT COALESCE(SUM(pg_total_relation_size(${tables})), 0) AS answer`;
    const query = `${size} FROM pg_tables WHERE schemaname = '${this.#schema}'`;
    return Number(await ask(this.#connect, query));
  }

  async remove(): Promise<void> {
    await this.#end();
    await ask(this.#connect, `DROP SCHEMA IF EXISTS "${this.#schema}" CASCADE`);
  }

  async #end(): Promise<void> {
    await this.#opened?.end();
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
