import { access, constants, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { HarnessError } from "../../../errors.ts";
import { isDatabaseUrl } from "../../../storage/open/index.ts";
import { MANY, shownState, withSaver } from "../threads/index.ts";
import type { Finding } from "./finding.ts";

/** Checks the thread file or the database. */
export async function storageFindings(path: string): Promise<Finding[]> {
  if (!isDatabaseUrl(path)) return [await fileFinding(path)];
  const probes = await databaseProbes(path).catch(() => []);
  if (probes.some(({ level }) => level === "problem")) return probes;
  return [await databaseFinding(path), ...probes];
}

/** The checks of a database that servers and workers perform when they start. */
async function databaseProbes(url: string): Promise<Finding[]> {
  const { probeDatabase } = await import("../../../threads/cluster/database/probes.ts");
  const probes = await probeDatabase(url, { heartbeat: true });
  const passed = probes.filter(({ level }) => level === "ok").map(({ says }) => says);
  const others = probes.filter(({ level }) => level !== "ok");
  return [...(passed.length > 0 ? [{ level: "ok" as const, says: passed.join("; ") }] : []), ...others].map(
    ({ level, says }) => finding(level, `${shownState(url)} ${says}`),
  );
}

/** Reads an entire database; creates its tables if they are missing. */
async function databaseFinding(url: string): Promise<Finding> {
  try {
    const threads = await threadCount(url);
    const remedy = "holdfast check lists the damage; restore lost data from a backup of the database.";
    return (
      (await damage(url, remedy)) ?? finding("ok", `${shownState(url)} (${threads}; all of it was read)`)
    );
  } catch (error) {
    return finding("problem", HarnessError.from(error)?.message ?? String(error));
  }
}

/** Reads the entire thread file and counts its threads. Does not create a missing file. */
async function fileFinding(path: string): Promise<Finding> {
  const stats = await stat(path).catch(() => undefined);
  if (!stats) {
    return (await canCreate(dirname(path)))
      ? finding("ok", `${path} (made with the first thread)`)
      : finding("problem", `${path} cannot be made`, "Choose another file with --state or HOLDFAST_STATE.");
  }
  try {
    const remedy = "holdfast check lists the damage; holdfast repair saves all readable data.";
    const damaged = await damage(path, remedy);
    if (damaged) return damaged;
    const size = `${(stats.size / 1_000_000).toFixed(1)} MB`;
    return finding("ok", `${path} (${await threadCount(path)}, ${size}; all of it was read)`);
  } catch (error) {
    const text = HarnessError.from(error)?.message ?? String(error);
    return finding("problem", text);
  }
}

function finding(level: Finding["level"], text: string, fix?: string): Finding {
  return { area: "storage", level, tested: true, text: `storage: ${text}`, fix: fix || undefined };
}

async function damage(path: string, remedy: string): Promise<Finding | undefined> {
  const { checkStore } = await import("../../../storage/care/index.ts");
  const { length } = await checkStore(path);
  const count = length === 1 ? "1 problem" : `${length} problems`;
  return length > 0 ? finding("problem", `${shownState(path)} is damaged (${count})`, remedy) : undefined;
}

async function threadCount(path: string): Promise<string> {
  const { length } = await withSaver(path, (saver) => saver.listThreads({ limit: MANY }));
  return length === 1 ? "1 thread" : `${length} threads`;
}

async function canCreate(folder: string): Promise<boolean> {
  for (let at = folder; ; at = dirname(at)) {
    const stats = await stat(at).catch(() => undefined);
    if (stats) {
      return access(at, constants.W_OK).then(
        () => stats.isDirectory(),
        () => false,
      );
    }
    if (dirname(at) === at) return false;
  }
}
