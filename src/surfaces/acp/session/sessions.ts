import { stat } from "node:fs/promises";
import { basename, isAbsolute } from "node:path";
import type {
  AgentContext,
  ClientCapabilities,
  ListSessionsRequest,
  ListSessionsResponse,
  McpServer,
  SessionConfigOption,
  SessionMode,
  SessionModeState,
} from "@agentclientprotocol/sdk";
import { z } from "zod";
import { HarnessError } from "../../../errors.ts";
import type { McpConfig } from "../../../mcp/index.ts";
import { type Todo } from "../../../plan/index.ts";
import { type Project } from "../../../project/index.ts";
import type { ThreadStore } from "../../../storage/index.ts";
import type { Host } from "../../../threads/host/index.ts";
import { PlanConflict, editable } from "../../../threads/plan/index.ts";
import {
  withPricedBudget,
  type PrepareOptions,
  type WantedSettings,
  projectNotice,
  modeOf,
  type RunSettings,
} from "../../../threads/prepare/index.ts";
import { newThreadId, settingsOfThread } from "../../../threads/thread/index.ts";
import type { Prices } from "../../../threads/view/index.ts";
import { EFFORTS, MODES, STATUSES } from "../../../vocabulary.ts";
import { INVALID_PARAMS, type Sdk } from "../sdk.ts";
import type { RuledPlan } from "../updates/plan-entries.ts";
import { commandsFor } from "./commands.ts";
import { Session } from "./session.ts";

export interface SessionsOptions extends Pick<PrepareOptions, "modelOf"> {
  host: Host;
  saver: ThreadStore;
  /** Settings of a new session. Default mode: the project's, else `ask`. */
  defaults: WantedSettings;
  /** Models to choose from, besides the current one. */
  models: readonly string[];
  projectOf: (settings: Pick<RunSettings, "dir" | "project">) => Promise<Project>;
  /** The model that settings files name. */
  modelIn: (project: Project) => string | undefined;
  pricesOf: (model: string, project: Project) => Prices | undefined;
}

export interface ConnectedEditor {
  sdk: Sdk;
  client: AgentContext;
  capabilities: ClientCapabilities;
}

interface OpenResponse {
  sessionId: string;
  modes: SessionModeState;
  configOptions: SessionConfigOption[];
}

/** The directory and MCP servers that an editor names for a session. */
interface SessionPlace {
  cwd: string;
  mcpServers?: readonly McpServer[];
}

/** Sessions per page of a list. */
const PAGE = 50;
/** The most threads to list. */
const MANY = 10_000;

/** The sessions of one connection. Each is a thread, also listed by the command line and the page. */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #editor: ConnectedEditor;
  readonly #open = new Map<string, Session>();

  constructor(options: SessionsOptions, editor: ConnectedEditor) {
    this.#options = options;
    this.#editor = editor;
  }

  /** Throws if the default model cannot be used. */
  async checkModel(): Promise<void> {
    await this.#options.modelOf(this.#options.defaults.model);
  }

  /** Creates a thread. It is saved immediately, as another process may open it. */
  async create(place: SessionPlace): Promise<OpenResponse> {
    const { host, saver, defaults, modelOf, modelIn, pricesOf } = this.#options;
    await checkFolder(place.cwd);
    const project = await this.#options.projectOf({ dir: place.cwd });
    const { name: model } = await modelOf(defaults.model ?? modelIn(project));
    const settings = withPricedBudget(
      { ...defaults, model, dir: place.cwd, startedIn: place.cwd },
      pricesOf(model, project),
    );
    const id = await newThreadId(saver, basename(place.cwd));
    await host.thread(id).create(settings);
    return this.#begin(id, { settings, project, place });
  }

  /** Opens an existing thread; with `hasReplay` the editor gets its whole conversation. */
  async open(id: string, place: SessionPlace, { hasReplay }: { hasReplay: boolean }): Promise<OpenResponse> {
    const { saver } = this.#options;
    await checkFolder(place.cwd);
    const saved = await settingsOfThread(saver, id);
    if (!saved) throw this.#editor.sdk.RequestError.resourceNotFound(id);
    const settings = { ...saved, dir: place.cwd };
    const project = await this.#options.projectOf(settings);
    const response = await this.#begin(id, { settings, project, place });
    if (hasReplay) await this.get(id).replay();
    return response;
  }

  get(id: string): Session {
    const session = this.#open.get(id);
    if (!session) throw this.#editor.sdk.RequestError.resourceNotFound(id);
    return session;
  }

  async list({ cwd, cursor }: ListSessionsRequest): Promise<ListSessionsResponse> {
    const { saver } = this.#options;
    // A thread without a title has no message yet.
    const threads = (await saver.listThreads({ limit: MANY })).filter(({ title }) => title !== undefined);
    const sessions: ListSessionsResponse["sessions"] = [];
    let at = Number(cursor ?? 0) || 0;
    for (; at < threads.length && sessions.length < PAGE; at += 1) {
      const { id, title = "", updatedAt } = threads[at]!;
      const { dir } = (await settingsOfThread(saver, id)) ?? {};
      if (dir === undefined || (cwd && cwd !== dir)) continue;
      sessions.push({ sessionId: id, cwd: dir, title, updatedAt: updatedAt.toISOString() });
    }
    return { sessions, nextCursor: at < threads.length ? String(at) : undefined };
  }

  async delete(id: string): Promise<void> {
    await this.close(id);
    await this.#options.saver.deleteThread(id);
  }

  async close(id: string): Promise<void> {
    await this.#open.get(id)?.cancel();
    this.#open.delete(id);
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((id) => this.close(id)));
  }

  setMode(id: string, mode: string): void {
    const newMode = MODES.find((one) => one === mode);
    if (!newMode) throw new HarnessError("invalid-options", `There is no mode ${JSON.stringify(mode)}.`);
    const session = this.get(id);
    session.settings = { ...session.settings, mode: newMode };
    session.send({ sessionUpdate: "current_mode_update", currentModeId: newMode });
    this.#sendChoices(session);
  }

  #sendChoices(session: Session): void {
    session.send({ sessionUpdate: "config_option_update", configOptions: this.#choices(session) });
  }

  async setOption(id: string, option: string, value: unknown): Promise<SessionConfigOption[]> {
    const session = this.get(id);
    if (option === "mode") this.setMode(id, String(value));
    else if (option === "model") {
      const { name } = await this.#options.modelOf(String(value));
      session.settings = { ...session.settings, model: name };
    } else if (option === "effort") {
      const effort = EFFORTS.find((one) => one === value);
      if (effort === undefined && value !== NO_EFFORT)
        throw new HarnessError("invalid-options", `There is no effort ${JSON.stringify(value)}.`);
      session.settings = { ...session.settings, effort };
    } else throw new HarnessError("invalid-options", `There is no option ${JSON.stringify(option)}.`);
    return this.#choices(session);
  }

  async showPlan(params: unknown): Promise<RuledPlan> {
    const { todos, rules } = await this.get(read(SHOW, params).sessionId).readPlan();
    return { todos: editable(todos), rules };
  }

  /** Resolves to the edited plan. The error of a conflict with the agent's changes has the current plan. */
  async editPlan(params: unknown, signal: AbortSignal): Promise<{ todos: Todo[] }> {
    const { sessionId, ...edit } = read(EDIT, params);
    try {
      return { todos: editable(await this.get(sessionId).editPlan(edit, signal)) };
    } catch (error) {
      const conflict = HarnessError.from(error);
      if (!(conflict instanceof PlanConflict)) throw error;
      const { code, message, todos } = conflict;
      throw new this.#editor.sdk.RequestError(INVALID_PARAMS, message, { code, todos: editable(todos) });
    }
  }

  async #begin(
    id: string,
    {
      settings,
      project,
      place,
    }: { settings: RunSettings & { dir: string }; project: Project; place: SessionPlace },
  ): Promise<OpenResponse> {
    await this.close(id);
    const { host, saver, pricesOf, projectOf } = this.#options;
    const servers = editorServers(place.mcpServers ?? []);
    const session = new Session({
      ...this.#editor,
      thread: host.thread(id),
      settings,
      mode: modeOf(settings, { config: project.config, at: "attended" }),
      // Read again for each run: files and trust may have changed.
      projectOf: async (runSettings) => {
        const current = await projectOf(runSettings);
        return { ...current, mcp: { mcpServers: { ...current.mcp.mcpServers, ...servers } } };
      },
      pricesOf: (model) => pricesOf(model, project),
      notice: projectNotice(project),
      fork: async () => {
        const copy = await newThreadId(saver, basename(place.cwd));
        await host.thread(id).fork(copy);
        return copy;
      },
      onApproval: () => this.#sendChoices(session),
    });
    this.#open.set(id, session);
    const availableCommands = commandsFor(project);
    // After the response: the client does not know the session before it.
    setImmediate(() => session.send({ sessionUpdate: "available_commands_update", availableCommands }));
    const modes = { currentModeId: session.mode, availableModes: [...EDITOR_MODES] };
    return { sessionId: id, modes, configOptions: this.#choices(session) };
  }

  #choices({ mode, settings: { model, effort }, isApproved }: Session): SessionConfigOption[] {
    const modes = EDITOR_MODES.map((one) => (one.id === "plan" && isApproved ? PLAN_APPROVED : one));
    const models = [...new Set([model, ...this.#options.models])];
    const select = (currentValue: string, options: { value: string; name: string }[]) =>
      ({ type: "select", currentValue, options }) as const;
    const optionOf = (value: string) => ({ value, name: value });
    const modeOptions = modes.map(({ id: value, ...texts }) => ({ value, ...texts }));
    const efforts = [NO_EFFORT, ...EFFORTS].map(optionOf);
    return [
      { id: "mode", name: "Mode", category: "mode", ...select(mode, modeOptions) },
      { id: "model", name: "Model", category: "model", ...select(model, models.map(optionOf)) },
      { id: "effort", name: "Effort", category: "thought_level", ...select(effort ?? NO_EFFORT, efforts) },
    ];
  }
}

/** The option for no effort: settings files or the model decide. */
const NO_EFFORT = "default";

async function checkFolder(cwd: string): Promise<void> {
  const stats = isAbsolute(cwd) ? await stat(cwd).catch(() => undefined) : undefined;
  if (stats?.isDirectory()) return;
  throw new HarnessError("invalid-options", `cwd: ${cwd} is no directory; give an absolute path.`);
}

/** An editor's MCP servers in the format of a configuration file. */
function editorServers(servers: readonly McpServer[]): Record<string, unknown> {
  return Object.fromEntries(servers.map((server) => [server.name, configOf(server)]));
}

function configOf(server: McpServer): McpConfig["mcpServers"][string] | { type: string; url: string } {
  if (!("type" in server)) {
    const { command, args, env } = server;
    return { command, args, env: record(env) };
  }
  if (server.type === "http") return { type: "http", url: server.url, headers: record(server.headers) };
  // Not supported: the reader of the configuration reports it.
  return { type: server.type, url: server.url };
}

function record(list: readonly { name: string; value: string }[]): Record<string, string> {
  return Object.fromEntries(list.map(({ name, value }) => [name, value]));
}

const EDITOR_MODES = [
  { id: "plan", name: "Plan first", description: "Proposes a plan and waits for your approval" },
  { id: "ask", name: "Ask", description: "Asks before it changes files or runs commands" },
  { id: "edits", name: "Edit", description: "Changes files; asks before it runs commands" },
  { id: "auto", name: "Auto", description: "Asks for nothing" },
] as const satisfies readonly SessionMode[];

/** Mode `plan` once its plan is approved. */
const PLAN_APPROVED = {
  id: "plan",
  name: "Plan approved",
  description: "Works on the plan that you approved; asks again for what leaves it",
} as const satisfies SessionMode;

const SHOW = z.object({ sessionId: z.string() });
const EDIT = SHOW.extend({
  todos: z.array(z.unknown()),
  // Required: without it, an edit would undo the agent's changes since the editor read the plan.
  base: z.array(z.looseObject({ id: z.string(), content: z.string(), status: z.enum(STATUSES) })),
  rules: z.array(z.string()).optional(),
});

/** The params of a request. Throws `invalid-request`. */
function read<Schema extends z.ZodType>(schema: Schema, params: unknown): z.output<Schema> {
  const result = schema.safeParse(params);
  if (result.success) return result.data;
  const { path, message } = result.error.issues[0]!;
  throw new HarnessError("invalid-request", [path.join("."), message].filter(Boolean).join(": "));
}
