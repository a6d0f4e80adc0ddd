import type { ExecFileOptions } from "node:child_process";
import { join } from "node:path";
import { run } from "./run-program.ts";
import { Screen, type ScreenOptions } from "./screen.ts";

const SCRIPT = join(process.cwd(), "test/helpers/terminal/commands.mjs");
/** What stands behind the output of each command: how it ended. */
const END = /\[ended with (\d+)\]\r?\n/;

export interface Ended {
  code: number;
  out: string;
  /** Empty on a terminal, where it is in `out`. */
  err: string;
}

export interface Command {
  args: readonly string[];
  /** Beside what the process has. */
  env?: Record<string, string>;
}

/**
 * The built commands, one after another in a process of their own, between pipes: to load LangChain takes longer than most
 * of them.
 */
export async function inOneProcess(
  commands: readonly Command[],
  { node = [], ...options }: ExecFileOptions & { node?: readonly string[] },
): Promise<Ended[]> {
  const { stdout, stderr } = await run(process.execPath, [...node, ...argv(commands).slice(1)], options);
  const [out, err] = [ended(stdout), ended(stderr)];
  return out.map(({ code, text }, at) => ({ code, out: text, err: err[at]?.text ?? "" }));
}

/** The same on a terminal. */
export function onOneScreen(commands: readonly Command[], options: ScreenOptions): Screen {
  return new Screen(argv(commands), options);
}

/** What each command has written to a screen, once all of them have ended. */
export async function endedOn(screen: Screen): Promise<Ended[]> {
  await screen.exit;
  return ended(screen.raw).map(({ code, text }) => ({ code, out: text, err: "" }));
}

const argv = (commands: readonly Command[]): string[] => [process.execPath, SCRIPT, JSON.stringify(commands)];

function ended(written: string): { code: number; text: string }[] {
  const parts = written.split(END);
  return Array.from({ length: (parts.length - 1) / 2 }, (_, at) => ({
    text: parts[2 * at]!,
    code: Number(parts[2 * at + 1]),
  }));
}
