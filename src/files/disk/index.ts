import type { FileBackend } from "../backend/index.ts";
import { createBackend } from "../backends/index.ts";
import { Disk, type DiskOptions } from "./disk.ts";
import { DISK_PLACE } from "./place.prompt.ts";

export type { DiskOptions } from "./disk.ts";
export { retryRename } from "./retries.ts";
export { listFiles } from "./list-files.ts";
export { pathMeant } from "./from-host.ts";

/**
 * Files in a real folder, which is created if missing. Never reaches files outside: paths cannot go up, and symbolic
 * links are neither followed nor listed, even if they are created during a call. On systems other than Linux this needs
 * a second process, which starts with the first call. Writes are atomic.
 *
 * @example
 * ```ts
 * import { createDeepAgent } from "holdfast";
 * import { diskBackend } from "holdfast/files";
 *
 * const backend = diskBackend("./my-project", { maxBytes: 1_000_000 });
 * const agent = createDeepAgent({ model: "openai:gpt-5.1", backend });
 * ```
 */
export function diskBackend(root: string, options: DiskOptions = {}): FileBackend {
  return { ...createBackend(new Disk(root, options)), place: () => DISK_PLACE };
}
