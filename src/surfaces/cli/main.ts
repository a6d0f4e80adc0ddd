#!/usr/bin/env node
import { inspect } from "node:util";
import { cli } from "./cli.ts";
import { EXIT } from "./exit-codes.ts";
import { harmless, shown } from "./output/index.ts";

const { stdin, stdout, stderr, env } = process;

// A reader that has gone, such as `head`, is no reason to complain. A run hears of both on its own, and stops.
stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE" || process.exitCode === EXIT.failed) return;
  process.exitCode = EXIT.failed;
  stderr.write(shown`holdfast: the output cannot be written: ${harmless(error.message)}\n`);
});

// What nobody caught is a mistake of ours, and still no reason to hand a terminal what a model or a server said.
process.on("uncaughtException", (error) => {
  stderr.write(shown`holdfast: ${harmless(inspect(error))}\n`);
  process.exit(EXIT.failed);
});

const code = await cli(process.argv.slice(2), { stdin, stdout, stderr, env, cwd: process.cwd() });
process.exitCode ||= code;
// Whatever a stopped run has left open, such as a connection to a model, must not keep the process alive.
stdout.write("", () => process.exit());
