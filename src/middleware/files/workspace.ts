import { AIMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import type { BaseStore } from "@langchain/langgraph";
import {
  stateFiles,
  withPermissions,
  type FileBackend,
  type PermissionRule,
  type StateBackend,
} from "../../files/index.ts";
import { compileRules } from "../../files/permissions.ts";
import { checkOptions } from "../check-options.ts";
import type { ToolRuntime } from "../loose-tool.ts";
import type { SkillLibrary } from "../skills/library.ts";
import { withSkills } from "../skills/mount.ts";
import { threadIdOf } from "../thread-data/thread-id.ts";
import { isWithheld } from "../withheld-calls.ts";
import { WORKSPACE_OPTIONS } from "./check-options.ts";
import { located } from "./located.ts";
import { operate } from "./operate.ts";
import type { BackendContext, WorkspaceOptions } from "./options.ts";
import { FILE_ARGUMENTS } from "./schemas.ts";

/** The default: files live in the graph state. */
export function stateBackend({ state }: BackendContext): FileBackend {
  return state;
}

/** A backend for one call, and what the call changed in the graph state. */
export interface OpenWorkspace {
  backend: FileBackend;
  /** An update for the `files` channel. */
  changes: () => ReturnType<StateBackend["changes"]>;
}

type CallContext = Pick<ToolRuntime, "store" | "configurable" | "writer">;

/** Makes the backend for a call. */
export class Workspace {
  readonly #make: (context: BackendContext) => FileBackend;
  readonly #permissions: readonly PermissionRule[];
  readonly #skills: SkillLibrary | undefined;
  /** Whether commands can be run. */
  readonly canExecute: boolean;

  /** Throws `invalid-options` for what cannot work, rules that cannot be read among it. */
  constructor(
    { backend = stateBackend, permissions = [], canExecute = false }: WorkspaceOptions,
    skills?: SkillLibrary,
  ) {
    checkOptions({ backend, permissions, canExecute }, { name: "Files", schema: WORKSPACE_OPTIONS });
    compileRules(permissions);
    this.#make = typeof backend === "function" ? backend : () => backend;
    this.#permissions = permissions;
    this.#skills = skills;
    this.canExecute = runsCommands({ backend, canExecute });
  }

  /** Opens the workspace on a state, as a hook sees it. */
  open(state: unknown, runtime: CallContext): OpenWorkspace {
    const { files = {} } = (state ?? {}) as { files?: Record<string, string> };
    return this.#open(files, runtime);
  }

  /** Opens the workspace as a tool call finds it: after the calls that stand before it in its message. */
  async openFor(id: string, runtime: ToolRuntime): Promise<OpenWorkspace> {
    const { files = {} } = (runtime.state ?? {}) as { files?: Record<string, string> };
    const earlier = earlierCalls(id, runtime.state);
    if (earlier.length === 0) return this.#open(files, runtime);
    const state = stateFiles(files);
    const backend = this.#guarded(this.#make(contextOf(state, runtime)));
    for (const { name, args } of earlier) {
      const parsed = FILE_ARGUMENTS[name].safeParse(args);
      if (!parsed.success) continue;
      const call = { name, args: await located(backend, { name, args: parsed.data }) };
      // What is not in the state happens for real when that call itself runs.
      if (leaf(backend, call.args.file_path) === state)
        await operate(backend, call, { signal: runtime.signal });
    }
    return this.#open(state.files(), runtime);
  }

  #open(files: Record<string, string>, runtime: CallContext): OpenWorkspace {
    const state = stateFiles(files);
    return { backend: this.#guarded(this.#make(contextOf(state, runtime))), changes: () => state.changes() };
  }

  #guarded(backend: FileBackend): FileBackend {
    const held = this.#permissions.length > 0 ? withPermissions(backend, this.#permissions) : backend;
    return this.#skills ? withSkills(held, this.#skills) : held;
  }
}

/** Whether a workspace of these options has commands. */
export function runsCommands({ backend, canExecute = false }: WorkspaceOptions): boolean {
  return typeof backend === "object" ? backend.execute !== undefined : canExecute;
}

function contextOf(state: StateBackend, runtime: CallContext): BackendContext {
  return { state, store: runtime.store as BaseStore | undefined, threadId: threadIdOf(runtime) };
}

/** The backend that really holds a path. */
function leaf(backend: FileBackend, path: string): FileBackend {
  const next = backend.route?.(path);
  return next ? leaf(next.backend, next.path) : backend;
}

const MUTATIONS = ["write_file", "edit_file", "delete_file"] as const;
type Mutation = (typeof MUTATIONS)[number];

function earlierCalls(id: string, state: unknown): { name: Mutation; args: unknown }[] {
  const { messages = [] } = (state ?? {}) as { messages?: BaseMessage[] };
  const turn = messages.findLast(
    (message): message is AIMessage =>
      AIMessage.isInstance(message) && (message.tool_calls ?? []).some((call) => call.id === id),
  );
  if (!turn) return [];
  const calls = turn.tool_calls ?? [];
  // Another middleware may have refused some before the tools ran.
  const later = messages.slice(messages.indexOf(turn) + 1);
  const answered = new Set(
    later.flatMap((reply) => (ToolMessage.isInstance(reply) ? reply.tool_call_id : [])),
  );
  return calls
    .slice(
      0,
      calls.findIndex((call) => call.id === id),
    )
    .filter((call) => !answered.has(call.id ?? "") && !isWithheld(turn, call))
    .flatMap(({ name, args }) =>
      MUTATIONS.includes(name as Mutation) ? { name: name as Mutation, args } : [],
    );
}
