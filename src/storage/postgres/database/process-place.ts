import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/**
 * Where the number of a process means that process: the same host since it was started, and on Linux the same space of
 * process numbers. Containers that are called alike must not take each other's processes for dead.
 */
export const PLACE: string = [
  hostname(),
  attempt(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()),
  attempt(() => readlinkSync("/proc/self/ns/pid")),
].join(" ");

function attempt(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}
