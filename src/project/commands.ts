import { parse, type Command, type Redirect, type SyntaxNode, type Word } from "unbash";

/** One command of a shell line: its words (undefined where the shell expands one), and the texts to match patterns on. */
export interface PlainCommand {
  words: readonly (string | undefined)[];
  texts: readonly string[];
  /** Whether it reads what another command prints. */
  isPiped: boolean;
}

/** The most characters of a line that is parsed. */
const MAX_LENGTH = 262_144;
/** Control characters, which shells and users may read in different ways. */
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
  const piped = new Set<SyntaxNode>();
  for (const node of queue) {
    if (node.type === "Statement") queue.push(node.command);
    else if (node.type === "AndOr") queue.push(...node.commands);
    else if (node.type === "Pipeline" && node.prefixes.length === 0 && !node.operators.includes("|&")) {
      queue.push(...node.commands);
      for (const reader of node.commands.slice(1)) piped.add(reader);
    } else if (node.type === "Command") {
      const command = plainCommand(node, line);
      if (!command) return undefined;
      commands.push({ ...command, isPiped: piped.has(node) });
    } else return undefined;
  }
  return commands.length > 0 ? commands : undefined;
}

/** Whether commands run in another folder, where every later name means something else. */
export function moves(commands: readonly PlainCommand[]): boolean {
  return (
    commands.length > 1 && commands.some(({ words: [name = ""] }) => ["cd", "pushd", "popd"].includes(name))
  );
}

function plainCommand(
  { name, prefix, suffix, pos, end }: Command,
  line: string,
): Omit<PlainCommand, "isPiped"> | undefined {
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
