import { Table, type Stored } from "./table.ts";

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
export type StoredThread = Stored<typeof THREADS>;

/** What is newest in a namespace of a thread, and how much there is: rows that are missing are missed. */
export const HEADS = new Table("heads", {
  thread: "number",
  ns: "text",
  seq: "number",
  id: "text",
  /** How many checkpoints the namespace has. */
  count: "number",
  /** How many writes tasks have made since the newest. */
  pending: "number",
});
export type StoredHead = Stored<typeof HEADS>;

export const CHECKPOINTS = new Table("checkpoints", {
  /** Grows with every checkpoint that is put, whatever the clock says. */
  seq: "number",
  thread: "number",
  ns: "text",
  id: "text",
  parent: "text?",
  head: "text",
  channels: "text",
  metadata: "text",
  /** How many writes tasks made to it, counted when the next one was put; those of the newest are in its head. */
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

/** What is in a blob has its own hash; the seal holds for the number that others refer to it by. */
export const BLOBS = new Table(
  "blobs",
  { id: "number", thread: "number", hash: "bytes", kind: "text", body: "bytes" },
  ["kind", "body"],
);

/** The mailbox of edits: what is asked for, what is about to be written for it, and the answer, each as JSON. */
export const EDITS = new Table("edits", {
  id: "number",
  thread: "number",
  at: "number",
  content: "text",
  begun: "text?",
  outcome: "text?",
});
export type StoredEdit = Stored<typeof EDITS>;

/** What LangGraph's store keeps beside threads, numbered as it was made; each value is JSON. */
export const ITEMS = new Table("items", {
  id: "number",
  namespace: "text",
  key: "text",
  value: "text",
  created: "number",
  updated: "number",
});

/** The heart writes the beat, and a wrong one is found out by listening. */
export const LEASES = new Table(
  "leases",
  { thread: "text", holder: "text", pid: "number", host: "text", since: "number", beat: "number" },
  ["beat"],
);
export type Lease = Stored<typeof LEASES>;
