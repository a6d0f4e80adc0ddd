import { execFile, type ExecFileOptions } from "node:child_process";

/** Runs a program to its end; a failing one is a result, not an exception. */
export function run(command: string, args: string[], options: ExecFileOptions = {}) {
  return new Promise<{ ok: boolean; stdout: string; stderr: string }>((resolve) => {
    execFile(command, args, { ...options, encoding: "utf8" }, (error, stdout, stderr) => {
      resolve({ ok: error === null, stdout, stderr });
    });
  });
}
