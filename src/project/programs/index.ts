import type { Deed, Known } from "./forms.ts";
import { knownProgram, VERSIONED } from "./known.ts";

export { isRemote } from "./remotes.ts";

/** A command of a known program with known arguments. */
export interface KnownCommand {
  /** The name of the program, without a folder. */
  name: string;
  deed: Deed;
  /** Whether code of the project that it runs has a usual name, such as `test`. */
  isUsual: boolean;
  /** The remote that it names. The rest only holds if the repository has it. */
  remote: string | undefined;
  /** The arguments from the subcommand on, where the program has some. */
  args: readonly (string | undefined)[];
}

/**
 * A command by its words, where the effect of each is known; undefined for every other. A word that the shell expands is
 * undefined: it may only stand where any argument is known.
 */
export function knownCommand([program, ...args]: readonly (string | undefined)[]): KnownCommand | undefined {
  if (VERSIONED.has(program) && args.length === 1 && args[0] === "--version")
    return { name: program!, deed: "inert", isUsual: true, remote: undefined, args };
  const found = program === undefined ? undefined : knownProgram(program);
  if (!found) return undefined;
  const { name, known } = found;
  if (!("subcommands" in known)) return commandOf(name, known, { args, rest: args });
  const { subcommands } = known;
  // An option such as `-m pytest` may stand for a subcommand.
  const isSubcommand = (arg = "", next = ""): boolean =>
    Object.hasOwn(subcommands, arg) || Object.hasOwn(subcommands, `${arg}·${next}`);
  const at = args.findIndex((arg, index) => !arg?.startsWith("-") || isSubcommand(arg, args[index + 1]));
  const early = at < 0 ? args : args.slice(0, at);
  if (at < 0 || !early.every((arg) => arg !== undefined && isKnownOption(arg, known.before, false)))
    return undefined;
  const [first = "", second = ""] = args.slice(at);
  for (const [key, length] of [
    [first, 1],
    [`${first}·${second}`, 2],
  ] as const) {
    if (!Object.hasOwn(subcommands, key)) continue;
    return commandOf(name, subcommands[key]!, { args: args.slice(at), rest: args.slice(at + length) });
  }
  return undefined;
}

interface Arguments {
  args: readonly (string | undefined)[];
  /** Those behind the subcommand. */
  rest: readonly (string | undefined)[];
}

function commandOf(name: string, known: Known, { args, rest }: Arguments): KnownCommand | undefined {
  const { deed, options, isSingleDash = false, words: areKnown, isUsual = () => true, remote } = known;
  const literal = rest.filter((arg) => arg !== undefined);
  if (literal.length < rest.length && (options !== "*" || areKnown)) return undefined;
  // Every argument counts, wherever it stands: an option may take `--` as its value.
  const isOption = (arg: string): boolean => arg.startsWith("-") && arg !== "-";
  if (!literal.every((arg) => !isOption(arg) || isKnownOption(arg, options, isSingleDash))) return undefined;
  const words = literal.filter((arg) => !isOption(arg));
  if (areKnown && !areKnown(words)) return undefined;
  return {
    name,
    args,
    isUsual: isUsual(words),
    remote: remote?.(words),
    deed: typeof deed === "string" ? deed : deed(literal),
  };
}

function isKnownOption(arg: string, options: string, isSingleDash: boolean): boolean {
  if (options === "*" || arg === "--") return true;
  const { words, flags, valued } = optionsOf(options);
  const [name = ""] = arg.split("=", 1);
  if (isSingleDash || arg.startsWith("--")) return words.has(arg) || words.has(name);
  for (const letter of arg.slice(1)) {
    if (valued.has(letter)) return true;
    if (!flags.has(/\d/.test(letter) ? "#" : letter)) return false;
  }
  return true;
}

interface Options {
  /** Options that are matched as a whole. */
  words: ReadonlySet<string>;
  flags: ReadonlySet<string>;
  valued: ReadonlySet<string>;
}

const PARSED = new Map<string, Options>();

function optionsOf(text: string): Options {
  const parsed = PARSED.get(text) ?? parseOptions(text);
  PARSED.set(text, parsed);
  return parsed;
}

function parseOptions(text: string): Options {
  const tokens = text.split(" ").filter(Boolean);
  const short = tokens.filter((token) => !token.startsWith("--"));
  return {
    words: new Set(tokens),
    flags: new Set(
      short.filter((token) => !token.endsWith(":")).flatMap((token) => token.slice(1).split("")),
    ),
    valued: new Set(short.filter((token) => token.endsWith(":")).map((token) => token[1]!)),
  };
}
