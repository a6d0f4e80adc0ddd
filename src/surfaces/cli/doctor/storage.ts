import { access, constants, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { HarnessError } from "../../../errors.ts";
import { isDatabaseUrl } from "../../../storage/store.ts";
import { MANY, shownState, withSaver } from "../threads/threads.ts";
import type { Finding } from "./finding.ts";

/** Looks at where threads are kept. */
export async function storageFindings(path: string): Promise<Finding[]> {
  if (!isDatabaseUrl(path)) return [await fileFinding(path)];
  const probes = await databaseProbes(path).catch(() => []);
  if (probes.some(({ level }) => level === "problem")) return probes;
  return [await databaseFinding(path), ...probes];
}

/** What servers and workers try of their database when they start. */
async function databaseProbes(url: string): Promise<Finding[]> {
  const { probeDatabase } = await import("../../../threads/cluster/database/probes.ts");
  const probes = await probeDatabase(url, { heartbeat: true });
  const good = probes.filter(({ level }) => level === "ok").map(({ says }) => says);
  const others = probes.filter(({ level }) => level !== "ok");
  return [...(good.length > 0 ? [{ level: "ok" as const, says: good.join("; ") }] : []), ...others].map(
    ({ level, says }) => ({
      area: "storage",
      level,
      tested: true,
      text: `storage: ${shownState(url)} ${says}`,
    }),
  );
}

/** Reads all of a database, which is made ready where it is not. */
async function databaseFinding(url: string): Promise<Finding> {
  const shown = shownState(url);
  try {
    const count = await withSaver(url, async (saver) => (await saver.listThreads({ limit: MANY })).length);
    const { checkStore } = await import("../../../storage/care/index.ts");
    const problems = await checkStore(url);
    if (problems.length > 0) {
      const text = `storage: ${shown} is damaged (${problems.length === 1 ? "1 problem" : `${problems.length} problems`})`;
      const fix = "holdfast check says what is wrong; what is lost comes from a backup of the database.";
      return { area: "storage", level: "problem", tested: true, text, fix };
    }
    const text = `storage: ${shown} (${count} ${count === 1 ? "thread" : "threads"}; all of it was read)`;
    return { area: "storage", level: "ok", tested: true, text };
  } catch (error) {
    const text = `storage: ${HarnessError.from(error)?.message ?? String(error)}`;
    return { area: "storage", level: "problem", tested: true, text };
  }
}

/** Opens the thread file, reads all of it and lists its threads; one that is not there is not made. */
async function fileFinding(path: string): Promise<Finding> {
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
    const { checkStore } = await import("../../../storage/care/index.ts");
    const problems = await checkStore(path);
    if (problems.length > 0) {
      const text = `storage: ${path} is damaged (${problems.length === 1 ? "1 problem" : `${problems.length} problems`})`;
      const fix = "holdfast check says what is wrong, holdfast repair saves what can be saved.";
      return { area: "storage", level: "problem", tested: true, text, fix };
    }
    const count = await withSaver(path, async (saver) => (await saver.listThreads({ limit: MANY })).length);
    const size = `${(found.size / 1_000_000).toFixed(1)} MB`;
    const threads = `${count} ${count === 1 ? "thread" : "threads"}`;
    const text = `storage: ${path} (${threads}, ${size}; all of it was read)`;
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
