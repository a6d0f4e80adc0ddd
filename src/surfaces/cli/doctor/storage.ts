import { access, constants, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { HarnessError } from "../../../errors.ts";
import { MANY, withSaver } from "../threads.ts";
import type { Finding } from "./finding.ts";

/** Opens the thread file, reads all of it and lists its threads; one that is not there is not made. */
export async function storageFinding(path: string): Promise<Finding> {
  const found = await stat(path).catch(() => undefined);
  if (!found) {
    const isWritable = await canCreate(dirname(path));
    return isWritable
      ? { area: "storage", level: "ok", tested: true, text: `storage: ${path} (made with the first thread)` }
      : {
          area: "storage",
          level: "problem",
          tested: true,
          text: `storage: ${path} cannot be made`,
          fix: "Choose another file with --state or HOLDFAST_STATE.",
        };
  }
  try {
    const count = await withSaver(path, async (saver) => {
      await saver.check();
      return (await saver.listThreads({ limit: MANY })).length;
    });
    const size = `${(found.size / 1_000_000).toFixed(1)} MB`;
    const threads = `${count} ${count === 1 ? "thread" : "threads"}`;
    const text = `storage: ${path} (${threads}, ${size}; every page was read)`;
    return { area: "storage", level: "ok", tested: true, text };
  } catch (error) {
    const text = HarnessError.from(error)?.message ?? String(error);
    return { area: "storage", level: "problem", tested: true, text };
  }
}

async function canCreate(folder: string): Promise<boolean> {
  for (let at = folder; ; at = dirname(at)) {
    const found = await stat(at).catch(() => undefined);
    if (found) {
      return access(at, constants.W_OK).then(
        () => found.isDirectory(),
        () => false,
      );
    }
    if (dirname(at) === at) return false;
  }
}
