/** "Hold" in ASCII: marks a file as ours in SQLite's header. */
export const APPLICATION_ID = 0x486f6c64;
export const SCHEMA_VERSION = 6;

/**
 * `seq` is the order of saving across the file. Ids of checkpoints begin with the time of day, and a clock can be set
 * back. The index finds the newest of a namespace: SQLite ends every index with the row's key.
 */
const CHECKPOINTS = `
CREATE TABLE store.checkpoints (
  seq INTEGER PRIMARY KEY,
  thread INTEGER NOT NULL,
  ns TEXT NOT NULL,
  id TEXT NOT NULL,
  parent TEXT,
  head TEXT NOT NULL,
  channels TEXT NOT NULL,
  metadata TEXT NOT NULL,
  UNIQUE (thread, ns, id)
);
CREATE INDEX store.checkpoints_order ON checkpoints (thread, ns);
`;

/**
 * Columns that reveal damaged and missing rows: a checksum in each row, the number of writes to each checkpoint, and for
 * each namespace its newest checkpoint and the number of checkpoints. Thread 0 counts the threads themselves.
 */
const CHECKSUMS = `
ALTER TABLE store.threads ADD COLUMN seq INTEGER NOT NULL DEFAULT 0;
ALTER TABLE store.threads ADD COLUMN interrupted INTEGER NOT NULL DEFAULT 0;
ALTER TABLE store.threads ADD COLUMN seal BLOB;
ALTER TABLE store.blobs ADD COLUMN seal BLOB;
ALTER TABLE store.checkpoints ADD COLUMN writes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE store.checkpoints ADD COLUMN seal BLOB;
ALTER TABLE store.writes ADD COLUMN seal BLOB;
ALTER TABLE store.leases ADD COLUMN seal BLOB;
CREATE TABLE store.heads (
  thread INTEGER NOT NULL,
  ns TEXT NOT NULL,
  seq INTEGER NOT NULL,
  id TEXT NOT NULL,
  count INTEGER NOT NULL,
  pending INTEGER NOT NULL,
  seal BLOB,
  PRIMARY KEY (thread, ns)
) WITHOUT ROWID;
`;

/**
 * The ledger of servers: thread metadata that is not in checkpoints, and runs. A thread is named by its id here: it may
 * have no checkpoint yet.
 */
const LEDGER = `
CREATE TABLE store.hosted (
  thread TEXT PRIMARY KEY,
  graph TEXT NOT NULL,
  owner TEXT,
  created INTEGER NOT NULL,
  updated INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  metadata TEXT NOT NULL,
  seal BLOB
) WITHOUT ROWID;
CREATE TABLE store.runs (
  id TEXT PRIMARY KEY,
  thread TEXT NOT NULL,
  status TEXT NOT NULL,
  created INTEGER NOT NULL,
  updated INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  base TEXT,
  request TEXT NOT NULL,
  seal BLOB
) WITHOUT ROWID;
CREATE INDEX store.runs_thread ON runs (thread);
CREATE INDEX store.runs_status ON runs (status);
`;

/**
 * The mailbox: edits of a plan that other processes request from the holder of its thread, and the answers. Numbers are
 * not reused, so that an answer to a withdrawn edit reaches nobody else.
 */
const EDITS = `
CREATE TABLE store.edits (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  thread INTEGER NOT NULL,
  at INTEGER NOT NULL,
  content TEXT NOT NULL,
  begun TEXT,
  outcome TEXT,
  seal BLOB
);
CREATE INDEX store.edits_thread ON edits (thread);
`;

/** The items of LangGraph's store; numbered, so that those beside a damaged page can be read one by one. */
const ITEMS = `
CREATE TABLE store.items (
  id INTEGER PRIMARY KEY,
  namespace TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  created INTEGER NOT NULL,
  updated INTEGER NOT NULL,
  seal BLOB,
  UNIQUE (namespace, key)
);
`;

/** The schedules of servers. */
const SCHEDULES = `
CREATE TABLE store.schedules (
  id TEXT PRIMARY KEY,
  created INTEGER NOT NULL,
  due INTEGER,
  content TEXT NOT NULL,
  seal BLOB
) WITHOUT ROWID;
`;

/**
 * Blobs belong to one thread. Content that two threads share is stored twice; in return a thread is deleted with all its
 * blobs, without counting references. `AUTOINCREMENT` prevents reuse of a deleted thread's number: a stale holder would
 * otherwise write into another thread.
 */
export const SCHEMA = `
CREATE TABLE store.threads (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  created INTEGER NOT NULL,
  updated INTEGER NOT NULL,
  title TEXT,
  done INTEGER NOT NULL DEFAULT 0,
  total INTEGER NOT NULL DEFAULT 0,
  checkpoint TEXT,
  unfinished INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE store.blobs (
  id INTEGER PRIMARY KEY,
  thread INTEGER NOT NULL,
  hash BLOB NOT NULL,
  kind TEXT NOT NULL,
  body NOT NULL
);
CREATE UNIQUE INDEX store.blobs_content ON blobs (thread, hash);
${CHECKPOINTS.trim()}
CREATE TABLE store.writes (
  thread INTEGER NOT NULL,
  ns TEXT NOT NULL,
  checkpoint TEXT NOT NULL,
  task TEXT NOT NULL,
  idx INTEGER NOT NULL,
  channel TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (thread, ns, checkpoint, task, idx)
) WITHOUT ROWID;
CREATE TABLE store.leases (
  thread TEXT PRIMARY KEY,
  holder TEXT NOT NULL,
  pid INTEGER NOT NULL,
  host TEXT NOT NULL,
  since INTEGER NOT NULL,
  beat INTEGER NOT NULL
) WITHOUT ROWID;
${CHECKSUMS.trim()}
${LEDGER.trim()}
${EDITS.trim()}
${ITEMS.trim()}
${SCHEDULES.trim()}
`;

/** The migrations: the first entry upgrades format 1 to format 2. */
export const MIGRATIONS: readonly string[] = [
  `
ALTER TABLE store.checkpoints RENAME TO checkpoints_by_id;
${CHECKPOINTS.trim()}
INSERT INTO checkpoints (thread, ns, id, parent, head, channels, metadata)
  SELECT thread, ns, id, parent, head, channels, metadata FROM checkpoints_by_id ORDER BY id;
DROP TABLE store.checkpoints_by_id;
DROP INDEX store.threads_updated;
`,
  // The rows get their checksums afterwards, in the same transaction.
  CHECKSUMS,
  `${LEDGER}${EDITS}`,
  ITEMS,
  SCHEDULES,
];
