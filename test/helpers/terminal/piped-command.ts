import { Readable, Writable } from "node:stream";
import { cli } from "../../../src/surfaces/cli/cli.ts";
import type { Terminal } from "../../../src/surfaces/cli/terminal.ts";

export interface PipeOptions extends Pick<Terminal, "cwd" | "env"> {
  /** What stands in standard input. */
  input?: string;
}

/** A command in this process, between pipes: where it is about what is said, no process has to start. */
export async function inPipes(args: readonly string[], options: PipeOptions) {
  const { terminal, out, err } = pipes(options);
  const code = await cli(args, terminal);
  return { code, out: out(), err: err() };
}

/** A terminal that is none, and what was written to it. */
export function pipes({ cwd, env, input = "" }: PipeOptions) {
  const [stdout, stderr] = [new Collector(), new Collector()];
  const terminal: Terminal = {
    stdin: Readable.from([input]) as unknown as NodeJS.ReadStream,
    stdout: stdout as unknown as NodeJS.WriteStream,
    stderr: stderr as unknown as NodeJS.WriteStream,
    env,
    cwd,
  };
  return { terminal, out: () => stdout.text, err: () => stderr.text };
}

class Collector extends Writable {
  text = "";
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}
