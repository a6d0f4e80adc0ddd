import { isDatabaseUrl } from "../open/index.ts";
import { Database, type DatabaseOptions } from "../postgres/database/index.ts";
import { DatabaseSurvey } from "./database-survey.ts";
import { FileSurvey } from "./file-survey.ts";
import type { Problem, Progress } from "./problem.ts";
import { openReadable } from "./readable.ts";

/** Options of `checkStore`. */
export interface CheckOptions extends Pick<DatabaseOptions, "schema"> {
  onProgress?: (progress: Progress) => void;
}

/**
 * Reads a whole thread store, of any size, and returns its problems, without any change. Throws when there is no such file
 * or database, or when it is not a thread store.
 *
 * @example
 * ```ts
 * import { checkStore } from "holdfast/storage";
 *
 * for (const { thread, what } of await checkStore("threads.db")) console.error(thread, what);
 * ```
 */
export async function checkStore(address: string, options: CheckOptions = {}): Promise<Problem[]> {
  return isDatabaseUrl(address) ? checkDatabase(address, options) : checkFile(address, options);
}

async function checkDatabase(url: string, { onProgress, ...options }: CheckOptions): Promise<Problem[]> {
  const database = await Database.of(url, options);
  try {
    return await new DatabaseSurvey(database, onProgress).run();
  } finally {
    await database.close();
  }
}

async function checkFile(path: string, { onProgress }: CheckOptions): Promise<Problem[]> {
  const { connection, problems, close } = await openReadable(path);
  try {
    return [...problems, ...new FileSurvey(connection, {}, onProgress).run()];
  } finally {
    close();
  }
}
