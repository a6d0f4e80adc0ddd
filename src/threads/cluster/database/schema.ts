/** The schema of the store, which has the tables of the cluster, too. */
export const SCHEMA = "holdfast";

/** The lock of a process that creates tables, so that two processes that start at once do not create them twice. */
export const MIGRATION_LOCK = 4_863_271;

/**
 * Migrations, each from the format before it. A migration only adds, with defaults, so workers of the previous
 * version can run next to it. The table of run events is unlogged: a crash of the database empties it, as events are
 * only for current readers.
 */
export const STEPS: readonly string[] = [
  `
CREATE TABLE IF NOT EXISTS ${SCHEMA}.jobs (
  id text PRIMARY KEY, seq bigint GENERATED ALWAYS AS IDENTITY, thread text NOT NULL, status text NOT NULL,
  created bigint NOT NULL, updated bigint NOT NULL, attempt int NOT NULL, base text, request text NOT NULL,
  due timestamptz NOT NULL DEFAULT now(), priority int NOT NULL, queue text NOT NULL, keys text[] NOT NULL, waits text,
  worker text, stop text, reason text
);
CREATE INDEX IF NOT EXISTS jobs_of_thread ON ${SCHEMA}.jobs (thread, seq);
CREATE INDEX IF NOT EXISTS jobs_open ON ${SCHEMA}.jobs (status, seq) WHERE status IN ('pending', 'running');
CREATE INDEX IF NOT EXISTS jobs_keys ON ${SCHEMA}.jobs USING gin (keys) WHERE status = 'running';
CREATE INDEX IF NOT EXISTS jobs_waiting ON ${SCHEMA}.jobs (waits, priority DESC, seq) WHERE waits IS NOT NULL;
CREATE INDEX IF NOT EXISTS jobs_ended ON ${SCHEMA}.jobs (updated) WHERE status NOT IN ('pending', 'running');
CREATE UNLOGGED TABLE IF NOT EXISTS ${SCHEMA}.events (
  thread text NOT NULL, seq bigint NOT NULL, at timestamptz NOT NULL DEFAULT now(), body text NOT NULL,
  PRIMARY KEY (thread, seq)
);
CREATE INDEX IF NOT EXISTS events_age ON ${SCHEMA}.events USING brin (at);
CREATE TABLE IF NOT EXISTS ${SCHEMA}.workers (
  id text PRIMARY KEY, beat timestamptz NOT NULL DEFAULT now(), started timestamptz NOT NULL DEFAULT now(),
  state text NOT NULL, host text NOT NULL, pid int NOT NULL, version text NOT NULL, slots int NOT NULL, queues text[] NOT NULL
) WITH (fillfactor = 50);
`,
  `
ALTER TABLE ${SCHEMA}.jobs ADD COLUMN IF NOT EXISTS woken text;
CREATE INDEX IF NOT EXISTS jobs_woken ON ${SCHEMA}.jobs (woken) WHERE woken IS NOT NULL;
`,
];
