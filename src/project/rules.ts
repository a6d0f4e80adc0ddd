import { attempt } from "../errors.ts";
import { parsePath, compileRules } from "../files/paths/index.ts";
import { plainCommands, reachOf } from "./commands.ts";
import { hazardOf, programName } from "./programs.ts";

/** `tool`, or `tool(pattern)` with a pattern for its arguments; a star matches anything, also in the tool's name. */
export const RULE = /^[\w*.:-]+(?:\(.+\))?$/s;

/** A tool call to match against rules. */
export interface RuledCall {
  tool: string;
  /** The shell command that it runs. */
  command?: string | undefined;
  /** The path of its file, from the root. */
  path?: string | undefined;
  /** Other texts that identify its target. A rule allows the call if all match, and denies it if any does. */
  about?: readonly string[] | undefined;
}

export interface Rule {
  text: string;
  /** Whether it applies to a tool. */
  names: (tool: string) => boolean;
  /** Whether it has a pattern. */
  isNarrow: boolean;
  /** The pattern as a glob from the root, unless the rule is about commands. */
  paths?: string | undefined;
  /**
   * Whether it allows a call. Each command of a line has to match; if the pattern has a star, no command may have
   * arguments that run programs or write files.
   */
  allows: (call: RuledCall) => boolean;
  /** Whether it matches, or may match, a call in any spelling; one command of a line is enough. */
  catches: (call: RuledCall) => boolean;
}

/** Whether a text is a valid rule. */
export function isRule(text: unknown): text is string {
  return typeof text === "string" && RULE.test(text) && attempt(() => compileRule(text)) !== undefined;
}

/** Compiles a rule that matches `RULE`. Throws `invalid-options` for an invalid pattern of paths. */
export function compileRule(text: string): Rule {
  const [, name = "", pattern] = /^([^(]+)(?:\((.+)\))?$/s.exec(text) ?? [];
  const isTool = wildcard(name);
  if (pattern === undefined) {
    const matches = ({ tool }: RuledCall): boolean => isTool(tool);
    return { text, names: isTool, isNarrow: false, allows: matches, catches: matches };
  }
  const isText = wildcard(pattern);
  const isExact = !pattern.includes("*");
  const program = programName(pattern.split(/[\s*]/, 1)[0] ?? "");
  const paths = name === "execute" ? undefined : pattern.startsWith("/") ? pattern : `/${pattern}`;
  const files = paths === undefined ? undefined : compileFiles(paths);
  return {
    text,
    names: isTool,
    isNarrow: true,
    paths,
    allows: ({ tool, command, path, about = [] }) => {
      if (!isTool(tool)) return false;
      // PowerShell has its own syntax, which is not parsed: only the identical line is allowed.
      if (command !== undefined && process.platform === "win32") return command === pattern;
      if (command !== undefined)
        return (
          plainCommands(command)?.every(
            ({ words, texts }) => texts.some(isText) && (isExact || hazardOf(words) === undefined),
          ) ?? false
        );
      return path === undefined ? about.length > 0 && about.every(isText) : (files?.are(path) ?? false);
    },
    catches: ({ tool, command, path, about = [] }) => {
      if (!isTool(tool)) return false;
      if (command !== undefined && process.platform === "win32") return true;
      if (command !== undefined) {
        const { texts, doubts } = reachOf(command);
        return doubts.has("") || doubts.has(program) || [...texts].some(isText);
      }
      return path === undefined ? about.some(isText) : (files?.mayBe(path) ?? false);
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
