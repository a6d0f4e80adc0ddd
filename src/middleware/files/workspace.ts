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

/** The same for a tool call, and what it has seen of files; undefined where that does not matter. */
export interface OpenCall extends OpenWorkspace {
  sightings: Sightings | undefined;
}

type CallContext = Pick<ToolRuntime, "store" | "configurable" | "writer">;

/** Dependencies of a workspace. */
export interface WorkspaceParts {
  skills?: SkillLibrary | undefined;
  /** The rules of the agents that this one works for, the outermost first. */
  above?: readonly (readonly PermissionRule[])[] | undefined;
  /** Where the conversation is shown as a file, once it is summarized. Default `/.history`. */
  historyFolder?: string | undefined;
}

/** Makes the backend for a call. */
export class Workspace {
  readonly #make: (context: BackendContext) => FileBackend;
  /** Each list of rules holds by itself. */
  readonly #permissions: readonly (readonly PermissionRule[])[];
  readonly #skills: SkillLibrary | undefined;
  /** Whether commands can be run. */
  readonly canExecute: boolean;
  readonly #readFirst: boolean;
  /** Where tool calls find the conversation as a file, once a summary stands for some of it. */
  readonly historyFolder: string;

  /** Throws `invalid-options` for what cannot work, rules that cannot be read among it. */
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

  /** The backend's description of the place for the model; undefined if there is none. */
  place(runtime: CallContext): string | undefined {
    return this.#make(contextOf(stateFiles({}), runtime)).place?.();
  }

  /** Opens the workspace on a state, as a hook sees it. */
  open(state: unknown, runtime: CallContext): OpenWorkspace {
    const { files = {} } = (state ?? {}) as { files?: Record<string, string> };
    return this.#open(files, runtime);
  }

  /**
   * Opens the workspace as a tool call finds it: after the calls that stand before it in its message. In a trial nothing
   * is changed, and no command is run.
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
    // Where no results are kept, each call works out what the calls before it come to.
    const earlier = turn && !results ? earlierCalls(id, turn, messages) : [];
    const name = (call: string | undefined): string => `${turn?.id ?? ""} ${call ?? ""}`;
    const known = {
      messages: [...messages, ...(results ?? []).flatMap(messagesOf)],
      call: name(id),
      earlier: earlier.map((call) => name(call.id)),
      thread: (runtime.configurable?.["thread_id"] as string | undefined) ?? "",
      since: sinceOf(runtime),
    };
    const sightings = this.#readFirst ? new Sightings(known) : undefined;
    const replayed = await this.#replayed(files, { earlier, runtime, sightings });
    sightings?.begin();
    const { backend, changes } = this.#open(replayed, runtime, isTrial ? unchanging : undefined);
    // The model is told of the file with the first summary, or with a message that is too long for requests.
    const isTold =
      readContext(runtime.state, runtime.configurable).summary !== undefined || messages.some(isLong);
    const whole = isTold ? withConversation(backend, { folder: this.historyFolder, messages }) : backend;
    return { backend: whole, changes, sightings };
  }

  /** The files in the state after some calls. */
  async #replayed(
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
      // What is not in the state happens for real when that call itself runs.
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
    const held = this.#permissions.reduce(withPermissions, backend);
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

/** The files in the state as a call finds them: with the changes of the calls that it has followed. */
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

/** The calls that change files and stand before one in its turn. */
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

/** The backend, where changes and commands only tell whether they could be made, as far as that can be read. */
function unchanging(backend: FileBackend): FileBackend {
  const written = async (path: string) => {
    const file = await backend.readBytes(path);
    return !file.ok && file.reason === "folder" ? file : { ok: true as const, created: !file.ok };
  };
  const changes: Partial<FileBackend> = {
    write: written,
    writeBytes: written,
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
