import { attempt } from "../errors.ts";
import { parsePath, compileRules } from "../files/paths/index.ts";
import { moves, plainCommands, type PlainCommand } from "./commands.ts";
import { isRemote, knownCommand, type KnownCommand } from "./programs/index.ts";

/** `tool`, or `tool(pattern)` with a pattern for its arguments; a star matches anything, also in the tool's name. */
export const RULE = /^[\w*.:-]+(?:\(.+\))?$/s;

/** A tool call to match against rules. */
export interface RuledCall {
  tool: string;
  /** The shell command that it runs. */
  command?: string;
  /** The folder where the command runs. */
  dir?: string;
  /** The path of its file, from the root. */
  path?: string;
  /** Other texts that identify its target. A rule allows the call if all match, and denies it if any does. */
  about?: readonly string[];
}

export interface Rule {
  text: string;
  /** Whether it applies to a tool. */
  names: (tool: string) => boolean;
  /** Whether it has a pattern. */
  isNarrow: boolean;
  /** The pattern as a glob from the root, unless the rule is about commands. */
  paths?: string;
  /** Whether it allows a call, every command of its line included. */
  allows: (call: RuledCall) => boolean;
  /**
   * Whether it allows one command of a line. If the pattern has a star, only a known program with known arguments that
   * writes no files which other programs obey. `dir` is the folder where it runs.
   */
  allowsCommand: (tool: string, command: PlainCommand, dir?: string) => boolean;
  /**
   * Whether it matches, or may match, a call in any spelling. A line of commands matches if one command does, or if it
   * is not clear: nothing is guessed in its favor. A command of literal words for which `isNamed` is true counts as clear.
   */
  catches: (call: RuledCall, isNamed?: (command: PlainCommand) => boolean) => boolean;
  /** Whether it catches a call only because its line is not clear. */
  isUnclear: (call: RuledCall) => boolean;
}

/** Whether a text is a valid rule. */
export function isRule(text: unknown): text is string {
  return typeof text === "string" && RULE.test(text) && attempt(() => compileRule(text)) !== undefined;
}

/** The rules that together allow a call; none if one of its commands is allowed by none. */
export function allowing(rules: readonly Rule[], call: RuledCall): Rule[] {
  const alone = rules.filter((rule) => rule.allows(call));
  if (alone.length > 0 || call.command === undefined || process.platform === "win32") return alone;
  const commands = plainCommands(call.command);
  if (!commands || moves(commands)) return [];
  const found = commands.map((command) =>
    rules.find((rule) => rule.isNarrow && rule.allowsCommand(call.tool, command, call.dir)),
  );
  return found.every((rule) => rule !== undefined) ? found : [];
}

/** The first rule that catches a call. A command that is not clear passes if a rule without a star names it. */
export function catching(rules: readonly Rule[], allow: readonly Rule[], call: RuledCall): Rule | undefined {
  const exact = allow.filter(({ text, isNarrow }) => isNarrow && !text.includes("*"));
  const isNamed = (command: PlainCommand): boolean =>
    exact.some((rule) => rule.allowsCommand(call.tool, command, call.dir));
  return rules.find((rule) => rule.catches(call, isNamed));
}

/** Compiles a rule that matches `RULE`. Throws `invalid-options` for an invalid pattern of paths. */
export function compileRule(text: string): Rule {
  const [, name = "", pattern] = /^([^(]+)(?:\((.+)\))?$/s.exec(text) ?? [];
  const isTool = wildcard(name);
  if (pattern === undefined) {
    const matches = ({ tool }: RuledCall): boolean => isTool(tool);
    return {
      text,
      names: isTool,
      isNarrow: false,
      allows: matches,
      allowsCommand: isTool,
      catches: matches,
      isUnclear: () => false,
    };
  }
  const isText = wildcard(pattern);
  const commands = commandPattern(pattern);
  const paths = name === "execute" ? undefined : pattern.startsWith("/") ? pattern : `/${pattern}`;
  const files = paths === undefined ? undefined : compileFiles(paths);
  // PowerShell has its own syntax, which is not parsed: only the identical line is allowed.
  const isWindows = (): boolean => process.platform === "win32";
  return {
    text,
    names: isTool,
    isNarrow: true,
    paths,
    allows: ({ tool, command, dir, path, about = [] }) => {
      if (!isTool(tool)) return false;
      if (command !== undefined)
        return (
          command.trim() === pattern ||
          (!isWindows() && (plainCommands(command)?.every((one) => commands.allows(one, dir)) ?? false))
        );
      return path === undefined ? about.length > 0 && about.every(isText) : (files?.are(path) ?? false);
    },
    allowsCommand: (tool, command, dir) => isTool(tool) && commands.allows(command, dir),
    catches: ({ tool, command, dir, path, about = [] }, isNamed) => {
      if (!isTool(tool)) return false;
      if (command !== undefined)
        return isWindows() || commands.meaning(command, { dir, isNamed }) !== undefined;
      return path === undefined ? about.some(isText) : (files?.mayBe(path) ?? false);
    },
    isUnclear: ({ tool, command, dir }) =>
      isTool(tool) &&
      command !== undefined &&
      !isWindows() &&
      commands.meaning(command, { dir }) === "unclear",
  };
}

/** Matches commands with a pattern. */
function commandPattern(pattern: string) {
  const matchesPattern = wildcard(pattern);
  const [, named] = /^\S*\/([^\s/]+(?:\s.*)?)$/s.exec(pattern) ?? [];
  const matchesName = named === undefined ? undefined : wildcard(named);
  /** Whether a text matches, also with the program's name alone. */
  const isText = (text: string): boolean => matchesPattern(text) || matchesName?.(text) === true;
  const isExact = !pattern.includes("*");
  const patternWords = pattern.split(" ").filter(Boolean);
  const program = /^(?:\S*\/)?([^*/]+)$/.exec(patternWords[0] ?? "")?.[1];
  const optionAt = patternWords.findIndex((word) => word.startsWith("-"));
  /** The words before an option of the pattern: the option has more spellings than can be known. */
  const stem = optionAt > 0 ? patternWords.slice(0, optionAt).join(" ") : undefined;

  const matches = ({ texts }: PlainCommand, { name, args }: KnownCommand): boolean => {
    const words = args.map((word) => word ?? "$");
    const plain = words.filter((word) => !word.startsWith("-"));
    const forms = [words, plain].map((list) => [name, ...list].join(" "));
    return (
      [...texts, ...forms].some(isText) ||
      (stem !== undefined && plain.length < words.length && `${forms[1]} `.startsWith(`${stem} `))
    );
  };
  return {
    allows: (command: PlainCommand, dir: string | undefined): boolean => {
      if (!command.texts.some(matchesPattern)) return false;
      if (isExact) return true;
      const known = knownCommand(command.words);
      if (known?.remote !== undefined && !isRemote(known.remote, dir)) return false;
      return known?.deed === "inert" || (known?.deed === "code" && !command.isPiped);
    },
    /** Whether a line has a command that the pattern names, or may have one. */
    meaning: (
      line: string,
      { dir, isNamed }: { dir: string | undefined; isNamed?: (command: PlainCommand) => boolean },
    ): "named" | "unclear" | undefined => {
      if (isText(line.trim())) return "named";
      const list = plainCommands(line);
      if (!list) return "unclear";
      const known = list.map((command) => ({ command, known: knownCommand(command.words) }));
      if (known.some((one) => (one.known ? matches(one.command, one.known) : one.command.texts.some(isText))))
        return "named";
      const isClear =
        !moves(list) &&
        known.every(
          (one) =>
            (one.known?.isUsual &&
              (one.known.remote === undefined || isRemote(one.known.remote, dir)) &&
              !(one.known.deed === "code" && one.command.isPiped) &&
              // What a word expands to matters where the pattern may be about it.
              !(
                one.known.args.includes(undefined) &&
                (program === undefined || program === one.known.name)
              )) ||
            (!one.command.words.includes(undefined) && !one.command.isPiped && isNamed?.(one.command)),
        );
      return isClear ? undefined : "unclear";
    },
  };
}

/** Matches paths with a glob from the root: exactly, or in any spelling that a file system may accept. */
function compileFiles(paths: string) {
  const exact = compileRules([
    { effect: "allow", paths },
    { effect: "deny", paths: "/**" },
  ]);
  const loose = compileRules([{ effect: "deny", paths }]);
  // The tool itself refuses an invalid path.
  const matches = (raw: string, test: (path: string) => boolean): boolean => {
    const parsed = parsePath(raw);
    return parsed.ok && test(parsed.path);
  };
  return {
    are: (raw: string): boolean => matches(raw, (path) => exact.check("write", path).allowed),
    mayBe: (raw: string): boolean => matches(raw, (path) => !loose.check("write", path).allowed),
  };
}

/** Compiles a pattern in which stars match anything. `git push *` also matches `git push`. */
function wildcard(pattern: string): (text: string) => boolean {
  const pieces = pattern.split("*");
  const [first = "", ...rest] = pieces;
  const last = rest.pop();
  if (last === undefined) return (text) => text === pattern;
  return (text) => {
    if (last === "" && rest.length === 0 && first.endsWith(" ") && text === first.trimEnd()) return true;
    if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length)
      return false;
    // The leftmost match of each piece is enough, so the time is linear.
    let at = first.length;
    for (const piece of rest) {
      const index = text.indexOf(piece, at);
      if (index < 0 || index + piece.length > text.length - last.length) return false;
      at = index + piece.length;
    }
    return true;
  };
}
