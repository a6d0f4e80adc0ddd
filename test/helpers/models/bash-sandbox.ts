import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { RemoteSandbox } from "../../../src/files/index.ts";

/** A sandbox of DeepAgents' protocol, on this machine and isolated from nothing: paths are those of the host. */
export function bashSandbox({ maxOutput = 100_000 } = {}): RemoteSandbox & { commands: string[] } {
  const commands: string[] = [];
  return {
    id: "bash",
    commands,
    execute: (command) =>
      new Promise((resolve) => {
        commands.push(command);
        execFile("bash", ["-c", command], { encoding: "utf8" }, (error, stdout, stderr) => {
          const output = stdout + stderr;
          const exitCode = error ? (typeof error.code === "number" ? error.code : null) : 0;
          resolve({ output: output.slice(0, maxOutput), exitCode, truncated: output.length > maxOutput });
        });
      }),
    uploadFiles: (files) =>
      files.map(([path, content]) => {
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, content);
        return { path, error: null };
      }),
    downloadFiles: (paths) =>
      paths.map((path) => {
        const stats = statSync(path, { throwIfNoEntry: false });
        if (!stats) return { path, content: null, error: "file_not_found" };
        if (stats.isDirectory()) return { path, content: null, error: "is_directory" };
        return { path, content: readFileSync(path), error: null };
      }),
  };
}
