/** "Hold" in ASCII: marks a file as ours in SQLite's header. */
export const APPLICATION_ID = 0x486f6c64;
export const SCHEMA_VERSION = 1;

/**
 * Blobs belong to one thread. What two threads have in common is stored twice, and in return a thread is deleted
 * with everything that is its own, without counting references. `AUTOINCREMENT` keeps the number of a deleted
 * thread from being given out again: whoever still holds it would otherwise write into another thread.
 */
export const SCHEMA = `
CREATE TABLE threads (
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
CREATE INDEX threads_updated ON threads (updated);
CREATE TABLE blobs (
  id INTEGER PRIMARY KEY,
  thread INTEGER NOT NULL,
  hash BLOB NOT NULL,
  kind TEXT NOT NULL,
  body NOT NULL
);
CREATE UNIQUE INDEX blobs_content ON blobs (thread, hash);
CREATE TABLE checkpoints (
  thread INTEGER NOT NULL,
  ns TEXT NOT NULL,
  id TEXT NOT NULL,
  parent TEXT,
  head TEXT NOT NULL,
  channels TEXT NOT NULL,
  metadata TEXT NOT NULL,
  PRIMARY KEY (thread, ns, id)
) WITHOUT ROWID;
CREATE TABLE writes (
  thread INTEGER NOT NULL,
  ns TEXT NOT NULL,
  checkpoint TEXT NOT NULL,
  task TEXT NOT NULL,
  idx INTEGER NOT NULL,
  channel TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (thread, ns, checkpoint, task, idx)
) WITHOUT ROWID;
CREATE TABLE leases (
  thread TEXT PRIMARY KEY,
  holder TEXT NOT NULL,
  pid INTEGER NOT NULL,
  host TEXT NOT NULL,
  since INTEGER NOT NULL,
  beat INTEGER NOT NULL
) WITHOUT ROWID;
`;
