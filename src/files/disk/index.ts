import type { FileBackend } from "../backend/index.ts";
import { createBackend } from "../backends/index.ts";
import { Disk, type DiskOptions } from "./disk.ts";
import { DISK_PLACE } from "./place.prompt.ts";

export type { DiskOptions } from "./disk.ts";
export { retryRename } from "./retries.ts";
export { pathMeant } from "./from-host.ts";

/**
 * Files in a real folder, which is made when it is missing. Nothing outside it is reached: paths cannot go up,
 * and symbolic links are never followed, nor shown, also when somebody puts them there meanwhile: on systems other
 * than Linux that takes a second process, which is started with the first call. Writes are atomic.
 */
export function diskBackend(root: string, options: DiskOptions = {}): FileBackend {
  return { ...createBackend(new Disk(root, options)), place: () => DISK_PLACE };
}
