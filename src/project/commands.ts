import { forEachChild, parse, type Command, type Redirect, type SyntaxNode, type Word } from "unbash";
import { mayRunArguments, programName } from "./programs.ts";

/** One command of a shell line: its words (undefined where the shell expands one), and the texts to match patterns on. */
export interface PlainCommand {
  words: readonly (string | undefined)[];
  texts: readonly string[];
}

/** The most characters of a line that is parsed. */
const MAX_LENGTH = 262_144;
/** Control characters, which shells and people may read in different ways. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\0-\x08\x0b-\x1f\x7f]/;

/**
 * The commands of a line that consists of words, quotes, variables and operators between commands only. Undefined for
 * any other line: its words do not show what it runs or writes.
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
  // Git in another folder reads the settings of that repository, which may name programs to run.
  if (names.some((name) => ["cd", "pushd", "popd"].includes(name)) && names.includes("git")) return undefined;
  return commands.length > 0 ? commands : undefined;
}

function plainCommand({ name, prefix, suffix, pos, end }: Command, line: string): PlainCommand | undefined {
  if (!name || prefix.length > 0) return undefined;
  const words: (string | undefined)[] = [];
  const quotedWords: string[] = [];
  for (const part of [name, ...suffix]) {
    if (part.type === "Redirect" && isHarmless(part)) continue;
    if (part.type !== "Word") return undefined;
    const word = readWord(part);
    if (!word) return undefined;
    words.push(word.value);
    quotedWords.push(word.value === undefined ? part.text : quoted(word.value));
  }
  return { words, texts: [quotedWords.join(" "), line.slice(pos, end)] };
}

/** Whether a redirection only merges two outputs, or uses `/dev/null`. */
function isHarmless({ operator, descriptor, target }: Redirect): boolean {
  if (descriptor && descriptor.type !== "FileDescriptor") return false;
  const to = target?.text ?? "";
  return operator === ">&" ? /^[12]$/.test(to) : [">", ">>", "<"].includes(operator) && to === "/dev/null";
}

function quoted(word: string): string {
  return /^[\w@%+=:,./~^-]+$/.test(word) ? word : `'${word}'`;
}

/** Syntax in a word that runs a command, or that shells interpret differently. */
const UNSAFE_SYNTAX = /[`\\<>]|\$[({'"]/;

/** Reads a word; its value is undefined if the shell expands it. Undefined if the expansion could run something. */
function readWord({ text, value, parts }: Word): { value: string | undefined } | undefined {
  if (!parts) return UNSAFE_SYNTAX.test(text) || text !== value ? undefined : { value };
  let isLiteral = true;
  for (const part of parts) {
    const inner = part.type === "DoubleQuoted" ? part.parts : [part];
    if (part.type === "SingleQuoted") continue;
    if (UNSAFE_SYNTAX.test(part.type === "DoubleQuoted" ? part.text.replaceAll(/[<>]/g, "") : part.text))
      return undefined;
    for (const { type } of inner) {
      if (["SimpleExpansion", "Glob", "BraceExpansion"].includes(type)) isLiteral = false;
      else if (type !== "Literal") return undefined;
    }
  }
  return { value: isLiteral ? value : undefined };
}

function parsed(line: string) {
  if (line.length > MAX_LENGTH || CONTROL.test(line)) return undefined;
  const script = parse(line);
  return script.errors && script.errors.length > 0 ? undefined : script;
}

/** Everything that a line may run, in any spelling, for rules that deny. */
export interface Reach {
  /** Each command in the spellings that a pattern may use: without quotes, folder, or options before a subcommand. */
  texts: ReadonlySet<string>;
  /** Programs whose arguments cannot be determined; an empty name stands for any program. */
  doubts: ReadonlySet<string>;
}

/** The most command texts that are collected; a line with more counts as undeterminable. */
const MAX_TEXTS = 5000;
/** The most levels of nested scripts, such as `sh -c "sh -c …"`. */
const MAX_DEPTH = 4;

export function reachOf(line: string): Reach {
  const texts = new Set([line.trim()]);
  const doubts = new Set<string>();
  const scripts: [line: string, depth: number][] = [[line.replaceAll(/[\r\0]/g, "\n"), 0]];
  for (const [text, depth] of scripts) {
    const isWholeLine = depth === 0;
    for (const words of commandsIn(text, () => isWholeLine && doubts.add(""))) {
      for (const doubt of doubtsOf(words)) doubts.add(doubt);
      const [name = "", ...args] = words.map((word) => word ?? "$");
      const runs = mayRunArguments(name);
      for (const command of runs ? [words, ...tailsOf(args)] : [words])
        for (const form of formsOf(command)) texts.add(form);
      if (runs)
        scripts.push(
          ...args.filter(() => depth < MAX_DEPTH).map((arg) => [arg, depth + 1] as [string, number]),
        );
      if (texts.size > MAX_TEXTS || scripts.length > MAX_TEXTS) return { texts, doubts: doubts.add("") };
    }
  }
  return { texts, doubts };
}

/** The words of each command anywhere in a text, also in substitutions and functions. */
function commandsIn(text: string, onDoubt: () => void): (string | undefined)[][] {
  const commands: (string | undefined)[][] = [];
  if (text.length > MAX_LENGTH) {
    onDoubt();
    return commands;
  }
  const nodes: SyntaxNode[] = [parse(text)];
  for (let node = nodes.pop(); node; node = nodes.pop()) {
    if (node.type === "Script" && node.errors && node.errors.length > 0) onDoubt();
    if (node.type === "Command" && node.name) {
      const args = node.args.map((arg) => (arg.type === "Word" ? literalValue(arg) : arg.text));
      commands.push([literalValue(node.name), ...args]);
    }
    forEachChild(node, (child) => nodes.push(child));
  }
  return commands;
}

/** The value of a word that contains no expansion; undefined for others. */
function literalValue({ value, parts = [] }: Word): string | undefined {
  const isLiteral = (part: NonNullable<Word["parts"]>[number]): boolean =>
    part.type === "DoubleQuoted"
      ? part.parts.every(isLiteral)
      : ["Literal", "SingleQuoted", "AnsiCQuoted"].includes(part.type);
  return parts.every(isLiteral) ? value : undefined;
}

const SHELLS = ["sh", "ash", "bash", "dash", "zsh", "ksh", "fish", "eval", "source", "."];

function doubtsOf([name, ...args]: readonly (string | undefined)[]): string[] {
  if (name === undefined) return [""];
  const program = programName(name);
  const isUnseenScript =
    SHELLS.includes(program) && (args.includes(undefined) || args.every((arg) => arg?.startsWith("-")));
  // A setting may define an alias for a subcommand.
  const mayHaveAliases =
    program === "git" && args.some((arg) => /^-c|^--config-env|^--exec-path/.test(arg ?? ""));
  const isUnknownSubcommand =
    args.find((arg) => !arg?.startsWith("-")) === undefined && args.includes(undefined);
  return [...(isUnseenScript ? [""] : []), ...(mayHaveAliases || isUnknownSubcommand ? [program] : [])];
}

/** Every command that the arguments of a program that runs others may form. */
function tailsOf(args: readonly string[]): string[][] {
  return args.slice(0, 32).map((_, at) => args.slice(at, at + 64));
}

/** The spellings of a command that a pattern may use. A word after an option may be its value, and is left out too. */
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
