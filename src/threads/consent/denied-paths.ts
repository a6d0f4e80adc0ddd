import { join, relative, sep } from "node:path";
import { isInside, type FileAction, type PermissionRule } from "../../files/paths/index.ts";
import { compileRule, type Rule } from "../../project/index.ts";

const ACTIONS: Readonly<Record<string, FileAction>> = {
  read_file: "read",
  write_file: "write",
  edit_file: "write",
  delete_file: "delete",
};

/** Deny rules for calls whose arguments do not tell which files they touch. */
export interface Denied {
  /** For searches, listings and folders with something in them. */
  permissions: PermissionRule[];
  /** Files and folders that no command sees, as addresses on the host. A pattern with stars hides nothing. */
  hidden: (dir: string) => string[];
  /** For where a redirect leads, and for what a search finds. */
  isAddress: (url: URL) => boolean;
}

/** Files that rules deny, and files of the harness, which are always denied, by their addresses on the host. */
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
  /** The folder of the file tools. */
  dir?: string | undefined;
  files: readonly string[];
}

/** Rules for the harness's own files: to open and close a database in this process would give up its locks. */
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

/** Whether commands are run is for their own rules to say. */
const EXECUTE: PermissionRule = { effect: "allow", operations: ["execute"], paths: "/**" };

function permissionOf({ names, paths }: Rule): PermissionRule[] {
  const tools = Object.keys(ACTIONS).filter(names);
  if (paths === undefined || tools.length === 0) return [];
  return [{ effect: "deny", operations: [...new Set(tools.map((tool) => ACTIONS[tool]!))], paths }];
}
