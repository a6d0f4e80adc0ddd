/** "Hold" in ASCII: marks a file as ours in SQLite's header. */
export const APPLICATION_ID = 0x486f6c64;
/** The format of a file; formats before 6 were never released. */
export const SCHEMA_VERSION = 6;

/**
 * Every row has a checksum, `seal`. `heads` reveals missing rows: it has for each namespace the newest checkpoint and the
 * number of checkpoints; thread 0 counts the threads themselves.
 *
 * Blobs belong to one thread. Content that two threads share is stored twice; in return a thread is deleted with all its
 * blobs, without counting references. `AUTOINCREMENT` prevents reuse of a deleted thread's number: a stale holder would
 * otherwise write into another thread. An answer to a withdrawn edit reaches no one else for the same reason.
 *
 * `checkpoints.seq` is the order of saving across the file: ids of checkpoints begin with the time of day, and a clock can
 * be set back. The index finds the newest of a namespace: SQLite ends every index with the row's key.
 *
 * The ledger (`hosted`, `runs`) names a thread by its id: it may have no checkpoint yet. Items are numbered, so that those
 * next to a damaged page can be read one by one.
 *
 * A repair takes damaged lists of tables from a new file: tables stay in this order.
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
  unfinished INTEGER NOT NULL DEFAULT 0,
  seq INTEGER NOT NULL DEFAULT 0,
  interrupted INTEGER NOT NULL DEFAULT 0,
  seal BLOB
);
CREATE TABLE store.blobs (
  id INTEGER PRIMARY KEY,
  thread INTEGER NOT NULL,
  hash BLOB NOT NULL,
  kind TEXT NOT NULL,
  body NOT NULL,
  seal BLOB
);
CREATE UNIQUE INDEX store.blobs_content ON blobs (thread, hash);
CREATE TABLE store.checkpoints (
  seq INTEGER PRIMARY KEY,
  thread INTEGER NOT NULL,
  ns TEXT NOT NULL,
  id TEXT NOT NULL,
  parent TEXT,
  head TEXT NOT NULL,
  channels TEXT NOT NULL,
  metadata TEXT NOT NULL,
  writes INTEGER NOT NULL DEFAULT 0,
  seal BLOB,
  UNIQUE (thread, ns, id)
);
CREATE INDEX store.checkpoints_order ON checkpoints (thread, ns);
CREATE TABLE store.writes (
  thread INTEGER NOT NULL,
  ns TEXT NOT NULL,
  checkpoint TEXT NOT NULL,
  task TEXT NOT NULL,
  idx INTEGER NOT NULL,
  channel TEXT NOT NULL,
  value TEXT NOT NULL,
  seal BLOB,
  PRIMARY KEY (thread, ns, checkpoint, task, idx)
) WITHOUT ROWID;
CREATE TABLE store.leases (
  thread TEXT PRIMARY KEY,
  holder TEXT NOT NULL,
  pid INTEGER NOT NULL,
  host TEXT NOT NULL,
  since INTEGER NOT NULL,
  beat INTEGER NOT NULL,
  seal BLOB
) WITHOUT ROWID;
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
CREATE TABLE store.schedules (
  id TEXT PRIMARY KEY,
  created INTEGER NOT NULL,
  due INTEGER,
  content TEXT NOT NULL,
  seal BLOB
) WITHOUT ROWID;
`;
