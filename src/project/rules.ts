import { attempt } from "../errors.ts";
import { parsePath, compileRules } from "../files/paths/index.ts";
import { plainCommands, reachOf } from "./commands.ts";
import { hazardOf, programName } from "./programs.ts";

/** `tool`, or `tool(pattern)` for what it is called with; a star stands for anything, also in the tool's name. */
export const RULE = /^[\w*.:-]+(?:\(.+\))?$/s;

/** A call that rules judge. */
export interface RuledCall {
  tool: string;
  /** The command that it runs. */
  command?: string | undefined;
  /** The file that it is about, from the root. */
  path?: string | undefined;
  /** Other texts that identify its target: all have to be allowed, any can be denied. */
  about?: readonly string[] | undefined;
}

export interface Rule {
  text: string;
  /** Whether it is about a tool. */
  names: (tool: string) => boolean;
  /** Whether it says more than a tool. */
  isNarrow: boolean;
  /** Where it may be about files: a glob from the root. */
  paths?: string | undefined;
  /**
   * Whether it lets a call pass that it was written for. Of a line, each command has to fit, and with a star none may
   * have arguments that run programs or write files.
   */
  allows: (call: RuledCall) => boolean;
  /** Whether it is, or may be, about a call, in whatever spelling: one command of a line is enough. */
  catches: (call: RuledCall) => boolean;
}

/** Whether a text is a rule that can be read. */
export function isRule(text: unknown): text is string {
  return typeof text === "string" && RULE.test(text) && attempt(() => compileRule(text)) !== undefined;
}

/** Reads a rule that fits `RULE`. Throws `invalid-options` for a pattern of paths that cannot be read. */
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
  // A command is no path, and may have anything in it.
  const paths = name === "execute" ? undefined : pattern.startsWith("/") ? pattern : `/${pattern}`;
  const files = paths === undefined ? undefined : compileFiles(paths);
  return {
    text,
    names: isTool,
    isNarrow: true,
    paths,
    allows: ({ tool, command, path, about = [] }) => {
      if (!isTool(tool)) return false;
      // PowerShell reads a line in its own way: only the same line is sure to be what was allowed.
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

/** Whether a path fits a glob from the root: as it is spelled, or in any spelling that some file system takes for it. */
function compileFiles(paths: string) {
  const exact = compileRules([
    { effect: "allow", paths },
    { effect: "deny", paths: "/**" },
  ]);
  const loose = compileRules([{ effect: "deny", paths }]);
  // What cannot be read as a path is refused by the tool.
  const fits = (raw: string, test: (path: string) => boolean): boolean => {
    const parsed = parsePath(raw);
    return parsed.ok && test(parsed.path);
  };
  return {
    are: (raw: string): boolean => fits(raw, (path) => exact.check("write", path).allowed),
    mayBe: (raw: string): boolean => fits(raw, (path) => !loose.check("write", path).allowed),
  };
}

/** A text in which stars stand for anything. A space before the last star may be missing, with all behind it. */
function wildcard(pattern: string): (text: string) => boolean {
  const pieces = pattern.split("*");
  const [first = "", ...rest] = pieces;
  const last = rest.pop();
  if (last === undefined) return (text) => text === pattern;
  return (text) => {
    if (last === "" && rest.length === 0 && first.endsWith(" ") && text === first.trimEnd()) return true;
    if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length)
      return false;
    // Piece by piece from the left: no pattern takes long.
    let at = first.length;
    for (const piece of rest) {
      const found = text.indexOf(piece, at);
      if (found < 0 || found + piece.length > text.length - last.length) return false;
      at = found + piece.length;
    }
    return true;
  };
}
