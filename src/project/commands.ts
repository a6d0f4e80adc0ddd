import { forEachChild, parse, type Command, type Redirect, type SyntaxNode, type Word } from "unbash";
import { mayRunArguments, programName } from "./programs.ts";

/** A command of a line: its words, undefined where the shell has to expand one, and the texts that patterns may fit. */
export interface PlainCommand {
  words: readonly (string | undefined)[];
  texts: readonly string[];
}

/** The longest line that is read. */
const LONGEST = 262_144;
/** Characters that shells and people read in different ways. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\0-\x08\x0b-\x1f\x7f]/;

/**
 * The commands of a line that has nothing but words, quotes, variables and operators between commands. Undefined for
 * any other: what it runs or writes cannot be told by its words.
 */
export function plainCommands(line: string): PlainCommand[] | undefined {
  const script = parsed(line);
  if (!script) return undefined;
  const commands: PlainCommand[] = [];
  const queue: SyntaxNode[] = [...script.commands];
  for (const node of queue) {
    if (node.type === "Statement") queue.push(node.command);
    else if (node.type === "AndOr") queue.push(...node.commands);
    else if (node.type === "Pipeline" && node.prefixes.length === 0 && !node.operators.includes("|&"))
      queue.push(...node.commands);
    else if (node.type === "Command") {
      const command = plainCommand(node, line);
      if (!command) return undefined;
      commands.push(command);
    } else return undefined;
  }
  const names = commands.map(({ words }) => programName(words[0] ?? ""));
  // Another folder has other settings: those of a repository name programs.
  if (names.some((name) => ["cd", "pushd", "popd"].includes(name)) && names.includes("git")) return undefined;
  return commands.length > 0 ? commands : undefined;
}

function plainCommand({ name, prefix, suffix, pos, end }: Command, line: string): PlainCommand | undefined {
  if (!name || prefix.length > 0) return undefined;
  const words: (string | undefined)[] = [];
  const shown: string[] = [];
  for (const part of [name, ...suffix]) {
    if (part.type === "Redirect" && isHarmless(part)) continue;
    if (part.type !== "Word") return undefined;
    const read = readWord(part);
    if (!read) return undefined;
    words.push(read.value);
    shown.push(read.value === undefined ? part.text : quoted(read.value));
  }
  return { words, texts: [shown.join(" "), line.slice(pos, end)] };
}

/** Whether a redirection joins two outputs, or drops one. */
function isHarmless({ operator, descriptor, target }: Redirect): boolean {
  if (descriptor && descriptor.type !== "FileDescriptor") return false;
  const to = target?.text ?? "";
  return operator === ">&" ? /^[12]$/.test(to) : [">", ">>", "<"].includes(operator) && to === "/dev/null";
}

function quoted(word: string): string {
  return /^[\w@%+=:,./~^-]+$/.test(word) ? word : `'${word}'`;
}

/** Syntax in a word that runs something, or that shells read in different ways. */
const HIDDEN = /[`\\<>]|\$[({'"]/;

/** A word: without a value where the shell expands it, undefined where that could run something. */
function readWord({ text, value, parts }: Word): { value: string | undefined } | undefined {
  if (!parts) return HIDDEN.test(text) || text !== value ? undefined : { value };
  let isKnown = true;
  for (const part of parts) {
    const inner = part.type === "DoubleQuoted" ? part.parts : [part];
    if (part.type === "SingleQuoted") continue;
    if (HIDDEN.test(part.type === "DoubleQuoted" ? part.text.replaceAll(/[<>]/g, "") : part.text))
      return undefined;
    for (const { type } of inner) {
      if (["SimpleExpansion", "Glob", "BraceExpansion"].includes(type)) isKnown = false;
      else if (type !== "Literal") return undefined;
    }
  }
  return { value: isKnown ? value : undefined };
}

function parsed(line: string) {
  if (line.length > LONGEST || CONTROL.test(line)) return undefined;
  const script = parse(line);
  return script.errors && script.errors.length > 0 ? undefined : script;
}

/** All that a line may run, however it is spelled, for rules that forbid. */
export interface Reach {
  /** Each command in the spellings that a pattern may have: without quotes, folder and options before a subcommand. */
  texts: ReadonlySet<string>;
  /** Programs whose command is not known; an empty name stands for any. */
  doubts: ReadonlySet<string>;
}

/** The most commands that are looked for; a line with more is in doubt. */
const MOST_TEXTS = 5000;
/** The most scripts inside each other, such as `sh -c "sh -c …"`. */
const DEEPEST = 4;

export function reachOf(line: string): Reach {
  const texts = new Set([line.trim()]);
  const doubts = new Set<string>();
  const scripts: [line: string, depth: number][] = [[line.replaceAll(/[\r\0]/g, "\n"), 0]];
  for (const [text, depth] of scripts) {
    const isOurs = depth === 0;
    for (const words of commandsIn(text, () => isOurs && doubts.add(""))) {
      for (const doubt of doubtsOf(words)) doubts.add(doubt);
      const [name = "", ...args] = words.map((word) => word ?? "$");
      const runs = mayRunArguments(name);
      for (const found of runs ? [words, ...tailsOf(args)] : [words])
        for (const form of formsOf(found)) texts.add(form);
      if (runs)
        scripts.push(
          ...args.filter(() => depth < DEEPEST).map((arg) => [arg, depth + 1] as [string, number]),
        );
      if (texts.size > MOST_TEXTS || scripts.length > MOST_TEXTS) return { texts, doubts: doubts.add("") };
    }
  }
  return { texts, doubts };
}

/** The words of each command anywhere in a text, in substitutions and functions, too. */
function commandsIn(text: string, doubt: () => void): (string | undefined)[][] {
  const commands: (string | undefined)[][] = [];
  if (text.length > LONGEST) {
    doubt();
    return commands;
  }
  const nodes: SyntaxNode[] = [parse(text)];
  for (let node = nodes.pop(); node; node = nodes.pop()) {
    if (node.type === "Script" && node.errors && node.errors.length > 0) doubt();
    if (node.type === "Command" && node.name) {
      const args = node.args.map((arg) => (arg.type === "Word" ? spelled(arg) : arg.text));
      commands.push([spelled(node.name), ...args]);
    }
    forEachChild(node, (child) => nodes.push(child));
  }
  return commands;
}

/** The value of a word that is the same whatever is set. */
function spelled({ value, parts = [] }: Word): string | undefined {
  const isFixed = (part: NonNullable<Word["parts"]>[number]): boolean =>
    part.type === "DoubleQuoted"
      ? part.parts.every(isFixed)
      : ["Literal", "SingleQuoted", "AnsiCQuoted"].includes(part.type);
  return parts.every(isFixed) ? value : undefined;
}

const SHELLS = ["sh", "ash", "bash", "dash", "zsh", "ksh", "fish", "eval", "source", "."];

function doubtsOf([name, ...args]: readonly (string | undefined)[]): string[] {
  if (name === undefined) return [""];
  const program = programName(name);
  const isFed =
    SHELLS.includes(program) && (args.includes(undefined) || args.every((arg) => arg?.startsWith("-")));
  // A setting may be another name for a subcommand.
  const isRenamed = program === "git" && args.some((arg) => /^-c|^--config-env|^--exec-path/.test(arg ?? ""));
  const isOpen = args.find((arg) => !arg?.startsWith("-")) === undefined && args.includes(undefined);
  return [...(isFed ? [""] : []), ...(isRenamed || isOpen ? [program] : [])];
}

/** The words that may follow a program that runs others. */
function tailsOf(args: readonly string[]): string[][] {
  return args.slice(0, 32).map((_, at) => args.slice(at, at + 64));
}

/** A command as patterns may name it. What stands behind an option may be its value. */
function formsOf([name = "$", ...args]: readonly (string | undefined)[]): string[] {
  const words = args.map((word) => word ?? "$");
  const rests = [words];
  for (let at = 0; at < Math.min(words.length, 16); at += 1) {
    if (!words[at]!.startsWith("-") && !words[at - 1]?.startsWith("-")) break;
    rests.push(words.slice(at + 1));
  }
  return [name, programName(name)].flatMap((program) =>
    rests.map((rest) => [program, ...rest].join(" ").trim()),
  );
}
