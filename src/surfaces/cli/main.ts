#!/usr/bin/env node
import { inspect } from "node:util";
import { cli } from "./cli.ts";
import { EXIT } from "./exit-codes.ts";
import { harmless, shown } from "./output/index.ts";

const { stdin, stdout, stderr, env } = process;

// A closed pipe, as after `| head`, is not reported. A run handles both errors itself, and stops.
stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE" || process.exitCode === EXIT.failed) return;
  process.exitCode = EXIT.failed;
  stderr.write(shown`holdfast: the output cannot be written: ${harmless(error.message)}\n`);
});

// The text of an uncaught error may come from a model or a server, so it is made harmless too.
process.on("uncaughtException", (error) => {
  stderr.write(shown`holdfast: ${harmless(inspect(error))}\n`);
  process.exit(EXIT.failed);
});

const code = await cli(process.argv.slice(2), { stdin, stdout, stderr, env, cwd: process.cwd() });
process.exitCode ||= code;
// Anything left open by a stopped run, such as a connection to a model, must not keep the process alive.
stdout.write("", () => process.exit());
