export type { Change } from "./batch.ts";
export { blobOf, ThreadBlobs } from "./blobs.ts";
export { Desk, readParent } from "./thread-cache.ts";
export { Lines, type Job } from "./write-queues.ts";
