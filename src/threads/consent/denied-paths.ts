import { join, relative, sep } from "node:path";
import { isInside, type FileAction, type PermissionRule } from "../../files/paths/index.ts";
import { compileRule, type Rule } from "../../project/index.ts";

const ACTIONS: Readonly<Record<string, FileAction>> = {
  read_file: "read",
  write_file: "write",
  edit_file: "write",
  delete_file: "delete",
};

/** Deny rules for calls whose arguments do not name the files that they touch. */
export interface Denied {
  /** For searches, listings and folders. */
  permissions: PermissionRule[];
  /** Host paths that are hidden from commands. Patterns with wildcards hide nothing. */
  hidden: (dir: string) => string[];
  /** Whether an address is denied, for redirects and search results. */
  isAddress: (url: URL) => boolean;
}

/** The files denied by rules, and the harness's own files, which are always denied. */
export function denied(deny: readonly string[] = [], own: OwnFiles = { files: [] }): Denied {
  const rules = deny.map(compileRule).filter(({ isNarrow }) => isNarrow);
  const permissions = [...ownRules(own), ...rules.flatMap(permissionOf)];
  const unread = permissions.filter(({ operations }) => operations?.includes("read"));
  return {
    permissions: permissions.length > 0 ? [EXECUTE, ...permissions] : [],
    hidden: (dir) =>
      unread
        .flatMap(({ paths }) => paths)
        .filter((path) => !/[*?[{]/.test(path))
        .map((path) => join(dir, path))
        .concat(own.files),
    isAddress: ({ href }) => rules.some((rule) => rule.catches({ tool: "web_fetch", about: [href] })),
  };
}

interface OwnFiles {
  dir?: string;
  files: readonly string[];
}

/** Rules for the harness's own files: opening and closing a database file in this process would release its locks. */
function ownRules({ dir, files }: OwnFiles): PermissionRule[] {
  const paths = files
    .filter((file) => dir !== undefined && isInside(file, dir))
    .map(
      (file) =>
        `/${relative(dir!, file)
          .replaceAll(sep, "/")
          .replaceAll(/[*?[\]{}]/g, "[$&]")}`,
    );
  return paths.length > 0 ? [{ effect: "deny", paths }] : [];
}

/** Commands have rules of their own. */
const EXECUTE: PermissionRule = { effect: "allow", operations: ["execute"], paths: "/**" };

function permissionOf({ names, paths }: Rule): PermissionRule[] {
  const tools = Object.keys(ACTIONS).filter(names);
  if (paths === undefined || tools.length === 0) return [];
  return [{ effect: "deny", operations: [...new Set(tools.map((tool) => ACTIONS[tool]!))], paths }];
}
