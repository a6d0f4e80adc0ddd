import type { AIMessage, BaseMessage } from "@langchain/core/messages";
import type { BaseStore } from "@langchain/langgraph";
import { fail } from "../../files/backend/index.ts";
import { stateFiles, mergeFiles } from "../../files/backends/index.ts";
import {
  withPermissions,
  type FileBackend,
  type PermissionRule,
  type StateBackend,
} from "../../files/index.ts";
import { compileRules } from "../../files/paths/index.ts";
import { replaceText } from "../../files/text/index.ts";
import { readContext } from "../context-memory/index.ts";
import { CONVERSATION_FOLDER, isLong, withConversation } from "../conversation-file/index.ts";
import { checkOptions } from "../options/index.ts";
import { type SkillLibrary, withSkills } from "../skills/index.ts";
import { threadIdOf } from "../thread-data/index.ts";
import {
  type ToolRuntime,
  isMutation,
  type Mutation,
  messagesOf,
  updatesOf,
  earlierResults,
  isWithheld,
  openCalls,
  turnOf,
} from "../tools/index.ts";
import { leafOf } from "./changes/change-file.ts";
import { Sightings } from "./changes/sightings.ts";
import { sinceOf } from "./changes/since.ts";
import { WORKSPACE_OPTIONS } from "./check-options.ts";
import { located } from "./located.ts";
import { operate } from "./operate.ts";
import type { BackendContext, WorkspaceOptions } from "./options.ts";
import { FILE_ARGUMENTS } from "./schemas.ts";

/** The default backend: files in the graph state. */
export function stateBackend({ state }: BackendContext): FileBackend {
  return state;
}

/** A backend for one call, and its changes in the graph state. */
interface OpenWorkspace {
  backend: FileBackend;
  /** Returns an update for the `files` channel. */
  changes: () => ReturnType<StateBackend["changes"]>;
}

/** The same for a tool call, with the files it has seen; undefined without `readFirst`. */
interface OpenCall extends OpenWorkspace {
  sightings: Sightings | undefined;
}

type CallContext = Pick<ToolRuntime, "store" | "configurable" | "writer">;

/** Dependencies of a workspace. */
export interface WorkspaceParts {
  skills?: SkillLibrary;
  /** The rules of the agents above this one, outermost first. */
  above?: readonly (readonly PermissionRule[])[];
  /** The folder of the conversation file, once it is summarized. Default `/.history`. */
  historyFolder?: string;
}

/** An agent's files: creates the backend for each call. */
export class Workspace {
  readonly #make: (context: BackendContext) => FileBackend;
  /** Lists of rules, each of which must allow an operation. */
  readonly #permissions: readonly (readonly PermissionRule[])[];
  readonly #skills: SkillLibrary | undefined;
  /** Whether commands can be run. */
  readonly canExecute: boolean;
  readonly #readFirst: boolean;
  /** The folder of the conversation file. */
  readonly historyFolder: string;

  /** Throws `invalid-options` for invalid options and rules. */
  constructor(
    { backend = stateBackend, permissions = [], canExecute = false, readFirst = true }: WorkspaceOptions,
    { skills, above = [], historyFolder = CONVERSATION_FOLDER }: WorkspaceParts = {},
  ) {
    checkOptions(
      { backend, permissions, canExecute, readFirst },
      { name: "Files", schema: WORKSPACE_OPTIONS },
    );
    compileRules(permissions);
    this.#make = typeof backend === "function" ? backend : () => backend;
    this.#permissions = [...above, permissions].filter(({ length }) => length > 0);
    this.#skills = skills;
    this.#readFirst = readFirst;
    this.historyFolder = historyFolder;
    this.canExecute = runsCommands({ backend, canExecute });
  }

  /** The backend's description for the model of where files are; undefined if it has none. */
  place(runtime: CallContext): string | undefined {
    return this.#make(contextOf(stateFiles({}), runtime)).place?.();
  }

  /** Opens the workspace on a state, as a hook sees it. */
  open(state: unknown, runtime: CallContext): OpenWorkspace {
    const { files = {} } = (state ?? {}) as { files?: Record<string, string> };
    return this.#open(files, runtime);
  }

  /**
   * Opens the workspace for a tool call, with the effect of the earlier calls of its message. In a trial nothing is
   * changed, and no command is run.
   */
  async openFor(
    id: string,
    runtime: ToolRuntime,
    { isTrial = false }: { isTrial?: boolean } = {},
  ): Promise<OpenCall> {
    const { messages = [] } = (runtime.state ?? {}) as CallState;
    const results = earlierResults(id, runtime.configurable);
    const files = filesBefore(id, runtime);
    const turn = turnOf(messages, id);
    // Without the results of earlier calls, their effect is computed by replaying them.
    const earlier = turn && !results ? earlierCalls(id, turn, messages) : [];
    const keyOf = (call: string | undefined): string => `${turn?.id ?? ""} ${call ?? ""}`;
    const context = {
      messages: [...messages, ...(results ?? []).flatMap(messagesOf)],
      call: keyOf(id),
      earlier: earlier.map((call) => keyOf(call.id)),
      thread: (runtime.configurable?.["thread_id"] as string | undefined) ?? "",
      since: sinceOf(runtime),
    };
    const sightings = this.#readFirst ? new Sightings(context) : undefined;
    const current = await this.#replay(files, { earlier, runtime, sightings });
    sightings?.begin();
    const { backend, changes } = this.#open(current, runtime, isTrial ? dryRun : undefined);
    // The model learns of the conversation file with the first summary, or with a message too long for requests.
    const hasConversation =
      readContext(runtime.state, runtime.configurable).summary !== undefined || messages.some(isLong);
    if (!hasConversation) return { backend, changes, sightings };
    const folder = this.historyFolder;
    const earlierMessages = turn ? messages.slice(0, messages.indexOf(turn)) : messages;
    return {
      backend: withConversation(backend, { folder, messages: earlierMessages }),
      changes,
      sightings,
    };
  }

  /** The files in the state after the earlier calls of a turn. */
  async #replay(
    files: Record<string, string>,
    {
      earlier,
      runtime,
      sightings,
    }: { earlier: readonly EarlierCall[]; runtime: ToolRuntime; sightings: Sightings | undefined },
  ): Promise<Record<string, string>> {
    if (earlier.length === 0) return files;
    const state = stateFiles(files);
    const backend = this.#guarded(this.#make(contextOf(state, runtime)));
    for (const { name, args } of earlier) {
      const parsed = FILE_ARGUMENTS[name].safeParse(args);
      if (!parsed.success) continue;
      const call = { name, args: await located(backend, { name, args: parsed.data }) };
      // Only files in the state: for others the call itself has its effect when it runs.
      if (leafOf(backend, call.args.file_path).backend === state)
        await operate(backend, call, { signal: runtime.signal, sightings });
    }
    return state.files();
  }

  #open(
    files: Record<string, string>,
    runtime: CallContext,
    around: (backend: FileBackend) => FileBackend = (backend) => backend,
  ): OpenWorkspace {
    const state = stateFiles(files);
    const backend = this.#guarded(around(this.#make(contextOf(state, runtime))));
    return { backend, changes: () => state.changes() };
  }

  #guarded(backend: FileBackend): FileBackend {
    const restricted = this.#permissions.reduce(withPermissions, backend);
    return this.#skills ? withSkills(restricted, this.#skills) : restricted;
  }
}

/** Whether a workspace with these options can run commands. */
export function runsCommands({ backend, canExecute = false }: WorkspaceOptions): boolean {
  return typeof backend === "object" ? backend.execute !== undefined : canExecute;
}

function contextOf(state: StateBackend, runtime: CallContext): BackendContext {
  return { state, store: runtime.store as BaseStore | undefined, threadId: threadIdOf(runtime) };
}

/** The files in the state with the changes of the earlier calls of the turn that a call has waited for. */
export function filesBefore(
  id: string,
  { state, configurable }: Pick<ToolRuntime, "state" | "configurable">,
): Record<string, string> {
  const { files = {} } = (state ?? {}) as CallState;
  const results = earlierResults(id, configurable) ?? [];
  return results
    .flatMap((result) => updatesOf(result, "files"))
    .reduce<Record<string, string>>((before, update) => mergeFiles(before, update as never), files);
}

interface EarlierCall {
  id: string | undefined;
  name: Mutation;
  args: unknown;
}

interface CallState {
  files?: Record<string, string>;
  messages?: BaseMessage[];
}

/** The earlier calls of a turn that change files. */
function earlierCalls(id: string, turn: AIMessage, messages: readonly BaseMessage[]): EarlierCall[] {
  const calls = turn.tool_calls ?? [];
  const earlier = new Set(
    calls.slice(
      0,
      calls.findIndex((call) => call.id === id),
    ),
  );
  return openCalls(turn, messages)
    .filter((call) => earlier.has(call) && !isWithheld(turn, call))
    .flatMap(({ id: call, name, args }) => (isMutation(name) ? { id: call, name, args } : []));
}

/** A backend whose changes and commands only report whether they would fail, as far as reading can tell. */
function dryRun(backend: FileBackend): FileBackend {
  const write = async (path: string) => {
    const file = await backend.readBytes(path);
    return !file.ok && file.reason === "folder" ? file : { ok: true as const, created: !file.ok };
  };
  const changes: Partial<FileBackend> = {
    write,
    writeBytes: write,
    edit: async (path, edit) => {
      const file = await backend.read(path);
      if (!file.ok) return file;
      const replaced = replaceText(file.content, edit);
      return replaced.ok ? { ok: true, lines: [] } : fail(`"${path}" was not changed. ${replaced.error}`);
    },
    delete: async (path) => {
      const file = await backend.readBytes(path);
      return !file.ok && file.reason === "missing" ? file : { ok: true };
    },
    ...(backend.execute && {
      execute: async () => ({ ok: true, output: "", exitCode: 0, timedOut: false, truncated: false }),
    }),
  };
  return new Proxy(backend, {
    get: (target, key) => {
      const value: unknown = Reflect.get(Object.hasOwn(changes, key) ? changes : target, key);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}
