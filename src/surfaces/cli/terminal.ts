import type { Environment } from "../../models/index.ts";
import { type Sink, colourPaint, plainPaint, type Paint } from "./output/index.ts";

/** The process that a command runs in. */
export interface Terminal {
  stdin: NodeJS.ReadStream & { fd?: number };
  stdout: Sink;
  stderr: Sink;
  env: Environment;
  cwd: string;
}

export interface OutputFlags {
  json?: boolean;
  quiet?: boolean;
  /** Seconds without output after which a model request is aborted. */
  timeout?: number;
}

/** Whether the terminal can be drawn on: no pipe, CI log or dumb terminal. */
export function isLive(terminal: Pick<Terminal, "stdout" | "env">): boolean {
  return whyPlain(terminal) === undefined;
}

/** The reason for plain lines; undefined if the terminal can be drawn on. */
export function whyPlain({ stdout, env }: Pick<Terminal, "stdout" | "env">): string | undefined {
  if (!stdout.isTTY) return "standard output is no terminal";
  if (env["CI"]) return "CI is set";
  return env["TERM"] === "dumb" ? "TERM is dumb" : undefined;
}

/** Whether the user can be asked. */
export function canAsk({ stdin, stdout, env }: Terminal, { json, quiet }: OutputFlags): boolean {
  return stdin.isTTY && stdout.isTTY && !env["CI"] && !json && !quiet;
}

export function paintOf(terminal: Terminal): Paint {
  return isLive(terminal) && !terminal.env["NO_COLOR"] ? colourPaint : plainPaint;
}
