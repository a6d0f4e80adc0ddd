import { inspect } from "node:util";
import { cli } from "./cli.ts";
import { EXIT } from "./exit-codes.ts";
import { harmless, shown } from "./output/index.ts";

type Process = Pick<
  NodeJS.Process,
  "argv" | "stdin" | "stdout" | "stderr" | "env" | "cwd" | "on" | "exit" | "exitCode"
>;

/** Runs the command of a process, and ends the process with its exit code. */
export async function runProcess(running: Process): Promise<void> {
  const { stdin, stdout, stderr, env } = running;

  // A closed pipe, as after `| head`, is not reported. A run handles both errors itself, and stops.
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE" || running.exitCode === EXIT.failed) return;
    running.exitCode = EXIT.failed;
    stderr.write(shown`holdfast: the output cannot be written: ${harmless(error.message)}\n`);
  });

  // The text of an uncaught error may come from a model or a server, so it is made harmless too.
  running.on("uncaughtException", (error) => {
    stderr.write(shown`holdfast: ${harmless(inspect(error))}\n`);
    running.exit(EXIT.failed);
  });

  const code = await cli(running.argv.slice(2), { stdin, stdout, stderr, env, cwd: running.cwd() });
  running.exitCode ||= code;
  // Anything left open by a stopped run, such as a connection to a model, must not keep the process alive.
  stdout.write("", () => running.exit());
}
