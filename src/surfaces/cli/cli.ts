import { HarnessError, type HarnessErrorCode } from "../../errors.ts";
import { EXIT } from "./exit-codes.ts";
import { harmless, oneLine, shown } from "./output/index.ts";
import { markLiterals, unmarked, offersAfter, readCommand, unknownWord } from "./parser/index.ts";
import { canAsk, type Terminal } from "./terminal.ts";
import { asTyped, complaint } from "./wording.ts";

/** Errors that say how the command was used, not how it went. */
const USAGE: readonly HarnessErrorCode[] = [
  "invalid-options",
  "invalid-plan",
  "turn-unfinished",
  "invalid-model",
  "invalid-request",
];

/** The flag of shell completion scripts: the words of a line up to the one to complete. */
const COMPLETE = "--complete";

/** Reads the arguments and runs a command. Returns the exit code; an error is one readable line. */
export async function cli(args: readonly string[], terminal: Terminal): Promise<number> {
  if (args[0] === COMPLETE) {
    const { complete } = await import("./parser/completion.ts");
    for (const word of await complete(args.slice(1), terminal))
      terminal.stdout.write(shown`${oneLine(word)}\n`);
    return EXIT.done;
  }
  const line = withCommand(args, terminal);
  // What is typed before a session is ready is for the session: not echoed, not changed.
  if (line[0] === "session" && canAsk(terminal, {})) terminal.stdin.setRawMode?.(true);
  try {
    const command = await readCommand(markLiterals(line), terminal);
    if (!command) return EXIT.done;
    const { withKeptKeys } = await import("./login/kept-keys.ts");
    return await command.run({ ...terminal, env: await withKeptKeys(terminal.env) });
  } catch (error) {
    const text = sentence(error);
    const unknown = await unknownWord(text, args, (words, kind) => offersAfter(words, kind, terminal));
    const said = harmless(asTyped(unknown ?? complaint(text), terminal.env));
    terminal.stderr.write(shown`holdfast: ${said}\n`);
    const code = HarnessError.from(error)?.code;
    return code !== undefined && USAGE.includes(code) ? EXIT.usage : EXIT.failed;
  } finally {
    if (terminal.stdin.isRaw) terminal.stdin.setRawMode(false);
  }
}

/**
 * Without a command, or with a task of several words in its place, a person at a terminal means a session; `-p` and a
 * task that is piped mean a run.
 */
function withCommand(args: readonly string[], terminal: Terminal): readonly string[] {
  const [first = "-", ...rest] = args;
  if (PRINT_FLAGS.includes(first)) return ["run", ...rest];
  if (args.length === 0 && !terminal.stdin.isTTY) return ["run", "-"];
  const isMeant = /\s/.test(first) || (first.startsWith("-") && !OWN_FLAGS.includes(first));
  return isMeant && canAsk(terminal, {}) ? ["session", ...args] : args;
}

const PRINT_FLAGS: readonly string[] = ["-p", "--print"];
const OWN_FLAGS: readonly string[] = ["--help", "-h", "--version", "-v"];

function sentence(error: unknown): string {
  const known = HarnessError.from(error) ?? error;
  const text = known instanceof Error ? known.message : String(known);
  const lines = unmarked(text).split("\n");
  return lines
    .map((line) => line.trim())
    .filter(Boolean)
    .join(" ");
}
