import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  postgresSaver,
  postgresStore,
  sqliteSaver,
  sqliteStore,
  type ItemStore,
  type ThreadStore,
} from "../../../src/storage/index.ts";
import { isRelease } from "../runner/rounds.ts";
import { newDatabase } from "./database.ts";

/** A place for one test to keep threads and items in, which any number can open. */
export interface StorePlace {
  open: () => Promise<ThreadStore>;
  /** The source of a function call that opens it in another process. */
  opening: string;
  /** The same for items. */
  openItems: () => Promise<ItemStore>;
  openingItems: string;
  remove: () => void;
}

export interface StoreKind {
  name: string;
  create: () => Promise<StorePlace>;
  /** How much longer it takes than the fastest: what is tried often is tried less often. */
  cost: number;
}

/** Every kind of thread store, for tests of what all of them promise. */
export const STORES: readonly StoreKind[] = [
  {
    name: "SQLite",
    cost: 1,
    create: async () => {
      const folder = mkdtempSync(join(tmpdir(), "holdfast-store-"));
      const file = join(folder, "threads.db");
      return {
        open: () => sqliteSaver(file),
        opening: `sqliteSaver(${JSON.stringify(file)})`,
        openItems: () => sqliteStore(file),
        openingItems: `sqliteStore(${JSON.stringify(file)})`,
        remove: () => rmSync(folder, { recursive: true, force: true }),
      };
    },
  },
  {
    name: "Postgres",
    cost: 4,
    create: async () => {
      const url = await (database ??= newDatabase());
      const options = { schema: `s_${randomUUID().replaceAll("-", "")}`, poolSize: 2 };
      return {
        open: () => postgresSaver(url, options),
        opening: `postgresSaver(${JSON.stringify(url)}, ${JSON.stringify(options)})`,
        openItems: () => postgresStore(url, options),
        openingItems: `postgresStore(${JSON.stringify(url)}, ${JSON.stringify(options)})`,
        remove: () => {},
      };
    },
  },
];

/** For tests of what stands on a store: each kind in a release run, the fastest otherwise. */
export const STORES_BELOW = isRelease ? STORES : STORES.slice(0, 1);

/** One for each test file; each test has a schema of its own. */
let database: Promise<string> | undefined;
