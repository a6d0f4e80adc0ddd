export type { Change } from "./batch.ts";
export { blobOf, ThreadBlobs } from "./blobs.ts";
export { readParent, ThreadCache } from "./thread-cache.ts";
export { WriteQueues, type ThreadWrite } from "./write-queues.ts";
