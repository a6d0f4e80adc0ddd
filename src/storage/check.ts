import type { Problem, Progress } from "./problem.ts";
import { openReadable } from "./readable.ts";
import { Survey } from "./survey.ts";

export interface CheckOptions {
  onProgress?: (progress: Progress) => void;
}

/**
 * Reads a whole thread store, of any size, and says all that is wrong with it. Changes nothing. Throws when there is
 * no such file, or none of ours.
 */
export async function checkStore(path: string, { onProgress }: CheckOptions = {}): Promise<Problem[]> {
  const { connection, problems, close } = await openReadable(path);
  try {
    return [...problems, ...new Survey(connection, {}, onProgress).run()];
  } finally {
    close();
  }
}
