import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import type { AnyAgentMiddleware } from "langchain";
import type { DeepAgentOptions } from "../deep/index.ts";
import { attempt } from "../errors.ts";
import type { FileBackend, PermissionRule } from "../files/index.ts";
import { parsePath, pathIn } from "../files/paths/index.ts";
import { type BackendContext, Workspace } from "../middleware/files/index.ts";
import { MAX_INSTRUCTIONS, readText, type InstructionSource } from "../middleware/instructions/index.ts";
import { readSkill, type PlacedSkill, skillsMiddleware } from "../middleware/skills/index.ts";
import { filled, quotedText } from "../middleware/text/index.ts";
import {
  CompositeBackend,
  decoding,
  filesOf,
  runsCommands,
  runtimeHere,
  StateBackend,
  stateHere,
  StoreBackend,
  type AnyBackend,
} from "./backends.ts";
import { MEMORY } from "./deepagents.prompt.ts";
import type { BackendFactory, FilesystemPermission } from "./options.ts";

export type FileOptions = Pick<DeepAgentOptions, "backend" | "canExecute" | "permissions">;

/** Our options for a backend and the rules for its files. */
export function fileOptionsOf(
  backend?: AnyBackend | BackendFactory,
  permissions?: FilesystemPermission[],
): FileOptions {
  const rules = permissions && { permissions: permissions.map(ruleOf) };
  if (backend === undefined || backend.constructor === StateBackend) {
    return { backend: ({ state }) => decoding(state), ...rules };
  }
  if (typeof backend !== "function") {
    const needsContext = [StoreBackend, CompositeBackend].some((kind) => backend instanceof kind);
    if (!needsContext) return { backend: filesOf(backend), ...rules };
    const create = (context: BackendContext): FileBackend => filesOf(backend, context);
    return { backend: create, canExecute: runsCommands(backend), ...rules };
  }
  const create = (context?: BackendContext): AnyBackend =>
    backend({ state: stateHere() ?? {}, store: context?.store });
  // A backend that cannot be created outside of a run counts as one without commands.
  const canExecute = attempt(() => runsCommands(create())) ?? false;
  return { backend: (context) => filesOf(create(context), context), canExecute, ...rules };
}

export function ruleOf({ operations, paths, mode = "allow" }: FilesystemPermission): PermissionRule {
  const actions = operations.flatMap((one) => (one === "write" ? (["write", "delete"] as const) : [one]));
  return { effect: mode, operations: actions, paths, exact: mode === "allow" };
}

/** DeepAgents' `delete` is our `delete_file`. */
export function renamed<Rule>(rules: Record<string, Rule>): Record<string, Rule> {
  const { delete: rule, ...rest } = rules;
  return rule === undefined ? rules : { ...rest, delete_file: rule };
}

/**
 * Memory files, after a word on how to keep them. Permissions do not apply: the program chooses the files, on disk also
 * outside of the backend.
 */
export function memorySources({ backend }: FileOptions, paths: readonly string[]): InstructionSource[] {
  if (paths.length === 0) return [];
  const workspace = new Workspace(backend ? { backend } : {});
  const sources = paths.map((path) => async () => {
    const files = filesHere(workspace);
    const file = await files.read((await files.locate?.(path)) ?? path);
    if (file.ok) return quotedText("instructions", path, file.content);
    if (!files.locate || !isAbsolute(path)) return "";
    const onDisk = await readText(path, MAX_INSTRUCTIONS);
    return "text" in onDisk ? quotedText("instructions", path, onDisk.text) : "";
  });
  return [filled(MEMORY, { paths: paths.join(", ") }), ...sources];
}

export function filesHere(workspace: Workspace): FileBackend {
  return workspace.open(stateHere(), runtimeHere()).backend;
}

/** A middleware that lists skills in the agent's own files. */
export function skillsOf(options: FileOptions, sources: readonly string[] = []): AnyAgentMiddleware[] {
  if (sources.length === 0) return [];
  const workspace = new Workspace(options);
  let cache: Promise<PlacedSkill[]> | undefined;
  const warnings = new Set<string>();
  const read = async (): Promise<PlacedSkill[]> => {
    const { skills, notes } = await skillsIn(filesHere(workspace), sources);
    for (const note of notes) if (!warnings.has(note)) process.emitWarning(`createDeepAgent: ${note}`);
    for (const note of notes) warnings.add(note);
    return skills;
  };
  const placed = (): Promise<PlacedSkill[]> =>
    typeof options.backend === "object" ? (cache ??= read()) : read();
  return [skillsMiddleware({ placed }) as AnyAgentMiddleware];
}

export async function skillsIn(
  files: FileBackend,
  sources: readonly string[],
): Promise<{ skills: PlacedSkill[]; notes: string[] }> {
  const skills = new Map<string, PlacedSkill>();
  const notes: string[] = [];
  for (const source of sources) {
    const parsed = parsePath((await files.locate?.(source)) ?? source);
    const at = parsed.ok ? parsed.path : "/";
    const listing = parsed.ok ? await files.list(at) : parsed;
    const entries = listing.ok ? listing.entries : [];
    if (!listing.ok && files.locate && isAbsolute(source) && existsSync(source)) {
      notes.push(`the skills in ${source} are not in the backend's folder, and are left out.`);
    }
    const isSkill = entries.some(({ name }) => name === "SKILL.md");
    const folders = entries.filter(({ isDirectory }) => isDirectory).map(({ name }) => pathIn(at, name));
    for (const base of isSkill ? [at] : folders) {
      const skill = await readSkill({ files, base }, notes);
      if (skill) skills.set(skill.name, { ...skill, at: base });
    }
  }
  return { skills: [...skills.values()], notes };
}
