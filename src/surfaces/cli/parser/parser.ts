import yargs, { type Argv } from "yargs";
import { HarnessError } from "../../../errors.ts";
import { version } from "../../../version.ts";
import { EXIT_CODES } from "../options/index.ts";
import { harmless, shown } from "../output/index.ts";
import type { Terminal } from "../terminal.ts";
import { ChosenCommand, commands } from "./commands.ts";
import { unmarkLiterals } from "./literal.ts";

/**
 * Parses a command line. Undefined if nothing is left to do, as after `--help`. Throws `invalid-options` with the
 * message of the parser.
 */
export async function readCommand(
  args: readonly string[],
  terminal: Terminal,
): Promise<ChosenCommand | undefined> {
  try {
    await createParser(args, terminal).parseAsync([...args], {}, (_error, _flags, output) => {
      if (output) terminal.stdout.write(shown`${harmless(output)}\n`);
    });
    return undefined;
  } catch (error) {
    if (error instanceof ChosenCommand) return error;
    throw error;
  }
}

function createParser(args: readonly string[], { stdout }: Terminal): Argv {
  const parser = yargs([...args])
    .scriptName("holdfast")
    .usage("An agent that keeps its plan, in a terminal.\n\n  holdfast <command>")
    .locale("en")
    .strict()
    .demandCommand(1, 'Say what to do: holdfast run "task", or see holdfast --help.')
    .version(version())
    .alias({ help: "h", version: "v" })
    .wrap(Math.min(100, stdout.columns || 100))
    .epilogue(EXIT_CODES)
    .check(eachOnce)
    .middleware(unmarkLiterals)
    .exitProcess(false)
    .fail((message, error) => {
      throw message ? new HarnessError("invalid-options", message, { cause: error }) : error;
    });
  commands(parser);
  return parser;
}

/** The commands that may follow some words, or the flags with `-`. Yargs lists them only as completions of a line. */
export function offersAfter(words: readonly string[], kind: "" | "-", terminal: Terminal): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const line = ["--get-yargs-completions", "holdfast", ...words, kind];
    const parser = createParser(line, terminal);
    const take: Completion = (_current, _argv, defaults, done) => {
      defaults((_error, completions = []) => {
        // Yargs appends descriptions for some shells, and offers flags if there are no commands.
        const names = completions.map((one) => one.replace(/[:\t].*/s, ""));
        resolve(names.filter((one) => one.startsWith("-") === (kind === "-")));
        done([]);
      });
    };
    parser.completion("get-completions", false, take);
    parser.parseAsync().then(() => resolve([]), reject);
  });
}

type Completion = (
  current: string,
  argv: object,
  defaults: (onDone: (error: Error | null, words: string[] | undefined) => void) => void,
  done: (words: string[]) => void,
) => void;

/** Options that may be repeated. */
const LISTS = [
  "_",
  "threads",
  "answer",
  "a",
  "ask",
  "limit",
  "allow-origin",
  "allowOrigin",
  "allow-host",
  "allowHost",
  "mcp-config",
  "mcpConfig",
  "queues",
];

function eachOnce(flags: Record<string, unknown>): true {
  const repeated = Object.keys(flags).find((name) => Array.isArray(flags[name]) && !LISTS.includes(name));
  if (repeated === undefined) return true;
  throw new Error(`--${repeated} was given more than once.`);
}
