import { resolve } from "node:path";
import { HarnessError } from "../errors.ts";
import { inspectFile } from "./file-header.ts";
import { openFile } from "./open.ts";
import type { Problem, Progress } from "./problem.ts";
import { Survey } from "./survey.ts";

export interface CheckOptions {
  onProgress?: (progress: Progress) => void;
}

/**
 * Reads a whole thread store, of any size, and says all that is wrong with it. Changes nothing. Throws when there is
 * no such file, or none of ours.
 */
export async function checkStore(path: string, { onProgress }: CheckOptions = {}): Promise<Problem[]> {
  const file = resolve(path);
  if (!inspectFile(file)) throw new HarnessError("storage-failed", `There is no thread store at ${file}.`);
  const connection = await openFile(file, "read");
  try {
    return new Survey(connection, {}, onProgress).run();
  } finally {
    connection.close();
  }
}
