/** All tables of the cluster stand in the schema of the store. */
export const SCHEMA = "holdfast";

/** Whoever makes tables holds this lock: two processes that start first at once would make them twice. */
export const MIGRATION_LOCK = 4_863_271;

/**
 * What makes each format of the tables out of the one before it. A step only adds, and what it adds has a default:
 * workers of the version before go on beside it. The events of runs are for who watches now: they are not written
 * ahead, and gone after a crash of the database.
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
];
