import yargs from "yargs";
import { HarnessError, type HarnessErrorCode } from "../../errors.ts";
import { commands, EXIT_CODES } from "./commands.ts";
import { completions } from "./completion.ts";
import { EXIT } from "./exit-codes.ts";
import type { Terminal } from "./terminal.ts";
import { version } from "./version.ts";
import { asTyped, complaint } from "./wording.ts";

/** Errors that say how the command was used, not how it went. */
const USAGE: readonly HarnessErrorCode[] = [
  "invalid-options",
  "invalid-plan",
  "invalid-model",
  "invalid-request",
];

/** Reads the arguments and runs a command. Returns the exit code; an error is one readable line. */
export async function cli(args: readonly string[], terminal: Terminal): Promise<number> {
  let exitCode: number = EXIT.done;
  const parser = yargs([...args])
    .scriptName("holdfast")
    .usage("An agent that keeps its plan, in a terminal.\n\n  holdfast <command>")
    .locale("en")
    .strict()
    .recommendCommands()
    .demandCommand(1, 'Say what to do: holdfast run "task", or see holdfast --help.')
    .version(version())
    .alias({ help: "h", version: "v" })
    .wrap(Math.min(100, terminal.stdout.columns || 100))
    .epilogue(EXIT_CODES)
    .check(eachOnce)
    .exitProcess(false)
    .fail((message, error) => {
      throw message ? new HarnessError("invalid-options", complaint(message), { cause: error }) : error;
    });
  commands(parser, {
    terminal,
    onExit: (code) => {
      exitCode = code;
    },
  });
  parser.completion("completion", "Print a script for shell completion", completions(terminal));
  try {
    await parser.parseAsync();
    return exitCode;
  } catch (error) {
    terminal.stderr.write(`holdfast: ${asTyped(sentence(error), terminal.env)}\n`);
    const code = HarnessError.from(error)?.code;
    return code !== undefined && USAGE.includes(code) ? EXIT.usage : EXIT.failed;
  }
}

/** Options that may be given several times. */
const LISTS = ["_", "threads", "answer", "a", "ask"];

function eachOnce(flags: Record<string, unknown>): true {
  const twice = Object.keys(flags).find((name) => Array.isArray(flags[name]) && !LISTS.includes(name));
  if (twice === undefined) return true;
  throw new Error(`--${twice} was given more than once.`);
}

function sentence(error: unknown): string {
  const known = HarnessError.from(error) ?? error;
  const text = known instanceof Error ? known.message : String(known);
  return text.replaceAll(/\s*\n\s*/g, " ").trim();
}
