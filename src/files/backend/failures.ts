import type { Failure, FailureReason } from "./backend.ts";

/** A failure that says `error`. */
export function fail(error: string, reason?: FailureReason): Failure {
  return { ok: false, error, ...(reason && { reason }) };
}

/** For a file that is not there. */
export function noSuchFile(path: string): Failure {
  return fail(`There is no file "${path}".`, "missing");
}

/** For a folder that is not there. */
export function noSuchFolder(path: string): Failure {
  return fail(`There is no folder "${path}".`, "missing");
}

/** For a folder where a file is wanted. */
export function notAFile(path: string): Failure {
  return fail(`"${path}" is a folder, not a file.`, "folder");
}

/** For a file where a folder is wanted. */
export function notAFolder(path: string): Failure {
  return fail(`"${path}" is a file, not a folder.`);
}

/** For a write below something that is a file. */
export function fileInTheWay(path: string, file: string): Failure {
  return fail(`"${path}" cannot be written: "${file}" is a file, not a folder.`);
}

/** The failure with every path in it put through `rename`, for a backend that is shown under another root. */
export function relocate(failure: Failure, rename: (path: string) => string): Failure {
  const error = failure.error.replaceAll(QUOTED_PATH, (_, path: string) => `"${rename(path)}"`);
  return { ...failure, error };
}

/** The paths that a failure names. */
export function pathsIn(failure: Failure): string[] {
  return [...failure.error.matchAll(QUOTED_PATH)].map((match) => match[1]!);
}

const QUOTED_PATH = /"(\/[^"]*)"/g;
