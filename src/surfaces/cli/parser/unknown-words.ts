import { nearWords } from "../../../files/text/index.ts";
import { quoted } from "../wording.ts";

/** Returns the commands, or flags with a dash, that may follow some words. */
type Offers = (after: readonly string[], kind: "" | "-") => Promise<readonly string[]>;

/** The parser's message about unknown words. Flags have no dashes in it, and may appear in two spellings. */
const UNKNOWN = /^Unknown (?:argument|command)s?: ([^,]*)/;

/** Explains an unknown command, flag or argument, with a suggestion; undefined for any other message of the parser. */
export async function unknownWord(
  complaint: string,
  args: readonly string[],
  offers: Offers,
): Promise<string | undefined> {
  const name = UNKNOWN.exec(complaint)?.[1];
  if (name === undefined) return undefined;
  const words = args.filter((arg) => !arg.startsWith("-"));
  const path = await commandPath(words, offers);
  const help = `see holdfast ${[...path, "--help"].join(" ")}.`;

  const flag = args.map((arg) => arg.replace(/=.*/s, "")).find((arg) => isFlag(arg, name));
  if (flag !== undefined) {
    const [, dashes = "", bare = ""] = /^(--no-|--?)(.*)/s.exec(flag) ?? [];
    const flags = (await offers(path, "-")).map((one) => one.replace(/^-+(?:no-)?/, ""));
    const near = nearWords(bare, flags).map((one) => (one.length === 1 ? `-${one}` : dashes + one));
    return `Unknown flag ${flag}; ${near.length > 0 ? `did you mean ${near[0]}?` : help}`;
  }
  const isCommand = name === words[path.length];
  const commands = isCommand ? await offers(path, "") : [];
  if (commands.length > 0) {
    const near = nearWords(name, commands);
    if (near.length > 0) return `Unknown command ${name}; did you mean ${[...path, near[0]].join(" ")}?`;
    return /\s/.test(name)
      ? `There is no command ${quoted(name)}; for a task it is holdfast run ${quoted(name)}.`
      : `Unknown command ${name}; ${help}`;
  }
  const hint = path[0] === "run" ? "A task of several words stands in quotes; " : "";
  return `Unknown argument ${quoted(name)}. ${hint}${hint ? help : `S${help.slice(1)}`}`;
}

/** The leading words that form a command, such as `plan edit`. */
export async function commandPath(words: readonly string[], offers: Offers): Promise<string[]> {
  const path: string[] = [];
  for (const word of words) {
    if (!(await offers(path, "")).includes(word)) break;
    path.push(word);
  }
  return path;
}

function isFlag(arg: string, name: string): boolean {
  return (
    arg === `--${name}` ||
    arg === `--no-${name}` ||
    (name.length === 1 && /^-\w/.test(arg) && arg.includes(name))
  );
}
