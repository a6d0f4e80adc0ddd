import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MemorySaver } from "@langchain/langgraph";
import type { Place, SaverKind } from "./place.ts";
import { postgresSavers } from "./postgres.ts";
import type { Product } from "./product.ts";

export const NO_SAVER = "no saver";
export const MEMORY = "MemorySaver";
export const OURS = "holdfast sqliteSaver";
export const OFFICIAL = "official SqliteSaver";
export const OURS_POSTGRES = "holdfast postgresSaver";
export const POSTGRES = "official PostgresSaver";

export interface FoundSavers {
  savers: SaverKind[];
  notes: string[];
  /** Ends what was started for them. */
  stop: () => Promise<void>;
}

/** The savers that work here, and why others are left out. */
export async function findSavers(product: Product): Promise<FoundSavers> {
  const notes: string[] = [];
  const official = await officialSqlite().catch((error: Error) => {
    notes.push(`The official SQLite saver is left out: ${error.message.split("\n")[0]}`);
    return undefined;
  });
  const names = { official: POSTGRES, ours: OURS_POSTGRES };
  const postgres = await postgresSavers(names, product).catch((error: Error) => {
    notes.push(`Postgres is left out: ${error.message.split("\n")[0]}`);
    return undefined;
  });
  if (postgres) notes.push(postgres.note);
  const savers: SaverKind[] = [
    ...embeddedSavers(product),
    ...(official ? [official] : []),
    ...(postgres?.savers ?? []),
  ];
  return { savers, notes, stop: async () => postgres?.stop() };
}

/** Those that are always there. */
export function embeddedSavers({ storage }: Product): SaverKind[] {
  return [
    { name: NO_SAVER, create: async () => inMemory(() => undefined) },
    { name: MEMORY, create: async () => inMemory(() => new MemorySaver()) },
    { name: OURS, create: async () => inFile((file) => storage.sqliteSaver(file)) },
  ];
}

interface SqliteSaverModule {
  SqliteSaver: { fromConnString: (file: string) => { db: { close: () => void } } };
}

const OFFICIAL_PACKAGE: string = "@langchain/langgraph-checkpoint-sqlite";

/** LangGraph's own SQLite saver, which needs a native module. Throws where that was not built. */
export async function officialSqlite(): Promise<SaverKind> {
  const { SqliteSaver } = (await import(OFFICIAL_PACKAGE)) as SqliteSaverModule;
  SqliteSaver.fromConnString(":memory:").db.close();
  const open = async (file: string): Promise<Closable> => {
    const saver = SqliteSaver.fromConnString(file);
    return Object.assign(saver, { close: () => saver.db.close() });
  };
  return { name: OFFICIAL, create: async () => inFile(open) };
}

interface Closable {
  close: () => void;
}

function inMemory(create: () => unknown): Place {
  const saver = create();
  return { open: async () => saver, close: async () => undefined, remove: async () => {} };
}

function inFile(openFile: (file: string) => Promise<Closable>): Place {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-"));
  const file = join(folder, "threads.db");
  let opened: Closable | undefined;
  const shut = (): void => {
    opened?.close();
    opened = undefined;
  };
  return {
    open: async () => {
      shut();
      return (opened = await openFile(file));
    },
    close: async () => {
      shut();
      return statSync(file).size;
    },
    remove: async () => {
      shut();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
