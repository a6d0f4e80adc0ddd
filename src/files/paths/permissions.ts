import { HarnessError } from "../../errors.ts";
import { foldGlob, foldPath } from "./fold.ts";
import { compileGlob, type Glob } from "./glob.ts";
import { foldersAbove } from "./paths.ts";

/** Actions that a rule can allow or deny. Listing and searching are reading. */
export const FILE_ACTIONS = ["read", "write", "delete", "execute"] as const;
export type FileAction = (typeof FILE_ACTIONS)[number];

/** Allows or denies actions on paths. */
export interface PermissionRule {
  effect: "allow" | "deny";
  /** Default: all of them. */
  operations?: readonly FileAction[];
  /**
   * Globs from the root. Each covers its matches and everything below: "/a", "/a/" and "/a/**" are the same. A deny
   * rule also covers every spelling that some file system treats as the same: "/.git" covers "/.GIT", "/.git." and
   * "/.g\u200Cit". An allow rule covers only the exact spelling.
   */
  paths: string | readonly string[];
  /** Covers only the matches of the globs, not what is below. Default false. */
  exact?: boolean;
}

/** A decision, and a description of the rule that made it. */
export interface Permission {
  allowed: boolean;
  rule?: string;
}

interface CompiledRules {
  /** Decides about an action on a path. The first matching rule wins. A command's path is "/". */
  check: (action: FileAction, path: string) => Permission;
  /** True for a readable folder, and for one on the way to something readable. */
  mayEnter: (folder: string) => boolean;
}

/** Compiles rules. Throws for an invalid rule. */
export function compileRules(rules: readonly PermissionRule[]): CompiledRules {
  const compiled = rules.map((rule, index) => compileRule(rule, index + 1));
  const check = (action: FileAction, path: string): Permission => {
    const rule = compiled.find((each) => each.operations.includes(action) && each.covers(path));
    return rule ? { allowed: rule.effect === "allow", rule: rule.description } : { allowed: true };
  };
  const mayEnter = (folder: string): boolean =>
    check("read", folder).allowed ||
    compiled.some(
      (rule) => rule.effect === "allow" && rule.operations.includes("read") && rule.leadsTo(folder),
    );
  return { check, mayEnter };
}

function compileRule(rule: PermissionRule, number: number) {
  const { effect, operations = FILE_ACTIONS } = rule;
  const paths = [rule.paths].flat();
  const unknown = operations.find((action) => !FILE_ACTIONS.includes(action));
  if (unknown !== undefined) throw invalid(number, `"${unknown}" is not one of ${FILE_ACTIONS.join(", ")}`);
  if (effect !== "allow" && effect !== "deny") throw invalid(number, `the effect must be "allow" or "deny"`);
  const globs = paths.map((pattern) => globOf(pattern, number, rule.exact));
  const foldedGlobs = paths.map((pattern) => globOf(foldGlob(pattern), number));
  const isFolded = paths.every((pattern) => foldGlob(pattern) === pattern);
  const coversFolded = (path: string): boolean => {
    const folded = foldPath(path);
    // Most rules and paths do not change by folding: the exact check has covered them.
    return (!isFolded || folded !== path) && isIn(folded, foldedGlobs);
  };
  const named = paths.map((pattern) => `"${pattern}"`).join(", ");
  return {
    effect,
    operations,
    description: `rule ${number} (${effect} ${rule.operations?.join(", ") ?? "everything"} on ${named})`,
    covers: (path: string): boolean =>
      (rule.exact ? globs.some((glob) => glob.matches(path)) : isIn(path, globs)) ||
      (effect === "deny" && coversFolded(path)),
    leadsTo: (folder: string): boolean => globs.some((glob) => glob.leadsTo(folder)),
  };
}

/** Whether one of the globs matches a path or a folder above it. */
function isIn(path: string, globs: readonly Pick<Glob, "matches">[]): boolean {
  return [path, ...foldersAbove(path)].some((each) => globs.some((glob) => glob.matches(each)));
}

function globOf(pattern: string, number: number, exact = false): Pick<Glob, "matches" | "leadsTo"> {
  const folder = exact ? pattern : pattern.replace(/\/(?:\*\*\/?)?$/, "");
  if (folder === "" || folder === "**") return { matches: () => true, leadsTo: () => true };
  const compiled = compileGlob(folder, "/");
  if (!compiled.ok) throw invalid(number, compiled.error);
  return compiled.glob;
}

function invalid(number: number, problem: string): HarnessError {
  return new HarnessError("invalid-options", `Permission rule ${number} cannot be used: ${problem}.`);
}
