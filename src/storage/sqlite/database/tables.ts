import { RECORD_SHAPES, type RecordTable } from "../../store/index.ts";
import { Table, type TableRow } from "./table.ts";

/** The index of threads. */
export const THREADS = new Table("threads", {
  /** The number of the thread in the other tables. */
  key: "number",
  id: "text",
  created: "number",
  updated: "number",
  title: "text?",
  done: "number",
  total: "number",
  /** The newest checkpoint of the main graph, by id and by number. */
  checkpoint: "text?",
  seq: "number",
  unfinished: "number",
  interrupted: "number",
});
export type ThreadRow = TableRow<typeof THREADS>;

/** The newest checkpoint in each namespace of a thread, and the number of rows, which reveals a missing one. */
export const HEADS = new Table("heads", {
  thread: "number",
  ns: "text",
  seq: "number",
  id: "text",
  count: "number",
  /** The number of writes that tasks have made since the newest checkpoint. */
  pending: "number",
});
export type HeadRow = TableRow<typeof HEADS>;

export const CHECKPOINTS = new Table("checkpoints", {
  /** Grows with every checkpoint, whatever the clock says. */
  seq: "number",
  thread: "number",
  ns: "text",
  id: "text",
  parent: "text?",
  head: "text",
  channels: "text",
  metadata: "text",
  /** The number of writes to it, set when the next one is put; that of the newest is in `heads`. */
  writes: "number",
});

export const WRITES = new Table("writes", {
  thread: "number",
  ns: "text",
  checkpoint: "text",
  task: "text",
  idx: "number",
  channel: "text",
  value: "text",
});

/** The content of a blob has its own hash; the checksum covers the number that others refer to it by. */
export const BLOBS = new Table(
  "blobs",
  { id: "number", thread: "number", hash: "bytes", kind: "text", body: "bytes" },
  ["kind", "body"],
);

/** The tables that are the same in Postgres. */
export const RECORDS: { [Name in RecordTable]: Table<(typeof RECORD_SHAPES)[Name]> } = {
  hosted: new Table("hosted", RECORD_SHAPES.hosted),
  runs: new Table("runs", RECORD_SHAPES.runs),
  schedules: new Table("schedules", RECORD_SHAPES.schedules),
  edits: new Table("edits", RECORD_SHAPES.edits),
};

/** The items of LangGraph's store, numbered in the order of creation; each value is JSON. */
export const ITEMS = new Table("items", {
  id: "number",
  namespace: "text",
  key: "text",
  value: "text",
  created: "number",
  updated: "number",
});

/** The heartbeat writes `beat`; a wrong one is detected by waiting for the next. */
export const LEASES = new Table(
  "leases",
  { thread: "text", holder: "text", pid: "number", host: "text", since: "number", beat: "number" },
  ["beat"],
);
export type Lease = TableRow<typeof LEASES>;
