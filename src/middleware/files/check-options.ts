import { z } from "zod";
import { FILE_ACTIONS, type PermissionRule } from "../../files/paths/index.ts";
import { hasMethods } from "../options/index.ts";
import { MEDIA } from "./media.ts";
import type { FilesOptions, WorkspaceOptions } from "./options.ts";
import { FILE_ARGUMENTS, type FileToolName } from "./schemas.ts";

/** The methods of every file backend. */
export const FILES_METHODS = [
  "list",
  "read",
  "readBytes",
  "write",
  "writeBytes",
  "delete",
  "edit",
  "glob",
  "grep",
];
const isGlob = (value: unknown): boolean => typeof value === "string" && value !== "";

const rule = z.strictObject({
  effect: z.enum(["allow", "deny"]),
  operations: z.array(z.enum(FILE_ACTIONS)).min(1, "must name at least one operation").optional(),
  paths: z.custom<PermissionRule["paths"]>(
    (value) => (Array.isArray(value) ? value.length > 0 && value.every(isGlob) : isGlob(value)),
    'must be a glob from the root such as "/src/**", or a list of them',
  ),
  exact: z.boolean().optional(),
});

/** The schema of `WorkspaceOptions`. A rule that cannot be parsed is refused, as it would not apply. */
export const WORKSPACE_OPTIONS = z
  .strictObject({
    backend: z.custom<unknown>(
      (value) => typeof value === "function" || hasMethods(value, FILES_METHODS),
      'must be a file backend, such as diskBackend("."), or a function that makes one',
    ),
    permissions: z.array(rule),
    canExecute: z.boolean(),
    readFirst: z.boolean(),
  } satisfies Record<keyof WorkspaceOptions, z.ZodType>)
  .partial();

const TOOL_NAME = z.enum(Object.keys(FILE_ARGUMENTS) as [FileToolName, ...FileToolName[]]);

/** The schema of `FilesOptions`. */
export const FILES_OPTIONS = z
  .strictObject({
    ...WORKSPACE_OPTIONS.shape,
    fileTools: z.array(
      z.union([TOOL_NAME, z.strictObject({ name: TOOL_NAME, description: z.string().optional() })]),
    ),
    media: z.array(z.enum(MEDIA)),
    systemPrompt: z.string(),
    resultLimit: z.union([z.literal(false), z.number().min(1, "must be at least 1")]),
    resultFolder: z.string(),
  } satisfies Record<keyof FilesOptions, z.ZodType>)
  .partial();
