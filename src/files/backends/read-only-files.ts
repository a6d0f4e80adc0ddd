import { OBEYED } from "../paths/obeyed.ts";
import type { PermissionRule } from "../paths/permissions.ts";

/**
 * A rule for `permissions`: file tools leave alone what git and agents run or obey for the user, in every folder. The
 * files of a `shellBackend` are held to it.
 */
export const FROZEN_FILES: PermissionRule = {
  effect: "deny",
  operations: ["write", "delete"],
  paths: OBEYED.flatMap(({ frozen }) => frozen ?? []).map((path) => `**/${path}`),
};
