import { HarnessError, type HarnessErrorCode } from "../../errors.ts";
import { EXIT } from "./exit-codes.ts";
import { harmless, oneLine, shown } from "./output/index.ts";
import { markLiterals, unmarked, offersAfter, readCommand, unknownWord } from "./parser/index.ts";
import { canAsk, type Terminal } from "./terminal.ts";
import { asTyped, complaint } from "./wording.ts";

/** Errors in how the command was used, as opposed to failures of a run. */
const USAGE: readonly HarnessErrorCode[] = [
  "invalid-options",
  "invalid-plan",
  "turn-unfinished",
  "invalid-model",
  "invalid-request",
];

/** The flag that shell completion scripts pass, followed by the words up to the one to complete. */
const COMPLETE = "--complete";

/** Runs the command that the arguments name. Returns the exit code; an error is printed as one line. */
export async function cli(args: readonly string[], terminal: Terminal): Promise<number> {
  if (args[0] === COMPLETE) {
    const { complete } = await import("./parser/completion.ts");
    for (const word of await complete(args.slice(1), terminal))
      terminal.stdout.write(shown`${oneLine(word)}\n`);
    return EXIT.done;
  }
  const line = withCommand(args, terminal);
  // Raw mode from the start: keys typed while the session loads are neither echoed nor changed.
  if (line[0] === "session" && canAsk(terminal, {})) terminal.stdin.setRawMode?.(true);
  try {
    const command = await readCommand(markLiterals(line), terminal);
    if (!command) return EXIT.done;
    const { withKeptKeys } = await import("./login/kept-keys.ts");
    return await command.run({ ...terminal, env: await withKeptKeys(terminal.env) });
  } catch (error) {
    const text = sentence(error);
    const unknown = await unknownWord(text, args, (words, kind) => offersAfter(words, kind, terminal));
    const message = harmless(asTyped(unknown ?? complaint(text), terminal.env));
    terminal.stderr.write(shown`holdfast: ${message}\n`);
    const code = HarnessError.from(error)?.code;
    return code !== undefined && USAGE.includes(code) ? EXIT.usage : EXIT.failed;
  } finally {
    if (terminal.stdin.isRaw) terminal.stdin.setRawMode(false);
  }
}

/**
 * Adds the command that is implied: `run` for `-p` and a piped task, `session` for the user at a terminal without a
 * command or with a task of several words, and for a session's own flags.
 */
function withCommand(args: readonly string[], terminal: Terminal): readonly string[] {
  const [first = "-", ...rest] = args;
  if (PRINT_FLAGS.includes(first)) return ["run", ...rest];
  if (args.length === 0 && !terminal.stdin.isTTY) return ["run", "-"];
  if (SESSION_FLAGS.includes(first)) return ["session", ...args];
  const isSession = /\s/.test(first) || (first.startsWith("-") && !OWN_FLAGS.includes(first));
  return isSession && canAsk(terminal, {}) ? ["session", ...args] : args;
}

const PRINT_FLAGS: readonly string[] = ["-p", "--print"];
const SESSION_FLAGS: readonly string[] = ["--continue", "-c", "--resume", "--thread", "--plain"];
const OWN_FLAGS: readonly string[] = ["--help", "-h", "--version", "-v"];

function sentence(error: unknown): string {
  const cause = HarnessError.from(error) ?? error;
  const text = cause instanceof Error ? cause.message : String(cause);
  return unmarked(text)
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean)
    .join(" ");
}
