import { isDeepStrictEqual } from "node:util";
import { shortened } from "../../middleware/text/index.ts";
import { waitingInput } from "../plan/index.ts";
import {
  createRunAgent,
  type RunAgent,
  prepareRun,
  type PrepareOptions,
  type WantedSettings,
  type RunSettings,
} from "../prepare/index.ts";
import { GRAPH, isForeign, settingsOfThread, Thread } from "../thread/index.ts";
import type { Traces } from "../traces/index.ts";
import { compactAt, fileCopies } from "../undo/index.ts";
import { checkThread, type HostedGraph, type TurnMessage } from "./graphs.ts";
import { RunHost } from "./host.ts";
import type { Begun } from "./request/attendance.ts";
import type { RunRequest } from "./request/request.ts";

export interface ThreadsGraphOptions extends Omit<PrepareOptions, "offlineDir" | "live" | "place"> {
  defaults: WantedSettings;
  /** The folder of copies for an undo. Default: none are kept. */
  copies?: string;
  /** The directory of the offline model, which can only survey one. Default: none. */
  cwd?: string;
}

/** The channels that clients may write. Settings and title are channels, too, and not among them. */
const WRITABLE = ["messages", "files", "todos", "planRules"];

/** A host that runs Holdfast's own threads in this process. */
export function localHost({ traces, ...options }: ThreadsGraphOptions & { traces?: Traces }): RunHost {
  const { saver: checkpointer } = options;
  const graphs = new Map([[GRAPH, threadsGraph(options)]]);
  return new RunHost({ graphs, checkpointer, ledger: checkpointer.ledger, traces });
}

/** The graph of Holdfast's own threads, as `holdfast run` creates them: each runs with its own settings. */
export function threadsGraph(options: ThreadsGraphOptions): HostedGraph {
  const { saver, defaults, cwd, copies, projectOf } = options;
  const readers = new Map<string, RunAgent>();
  const wantedFor = async (thread: string | undefined, { settings }: Partial<RunRequest> = {}) => {
    const saved = thread === undefined ? undefined : await settingsOfThread(saver, thread);
    const wanted: WantedSettings = saved ?? { ...defaults, ...(settings as Partial<RunSettings>) };
    return { wanted, isNew: saved === undefined };
  };
  const reader = async (thread?: string): Promise<RunAgent> => {
    // Building an agent takes longer than reading a thread, and the same settings make the same agent.
    const { model = "", ...rest } = (await wantedFor(thread)).wanted;
    const settings = { ...rest, model };
    // Invalid settings files must not prevent reading.
    const project = await projectOf?.(settings).catch(() => undefined);
    const key = JSON.stringify([settings, project?.config.mode]);
    const agent = readers.get(key) ?? createRunAgent({ settings, checkpointer: saver, project });
    readers.set(key, agent);
    return agent;
  };
  const graph: HostedGraph = {
    isForeign: (thread) => isForeign(saver, thread),
    prepare: async (thread, request, attendance) => {
      // An attended run is not in the ledger, and was not checked before.
      if (attendance) await checkThread(graph, thread);
      const { wanted, isNew } = await wantedFor(thread, request);
      const isCompacted = request.compact === true && !isNew;
      return prepareRun(attendance?.settings ?? wanted, {
        ...options,
        ...attendance?.prepare,
        compactAt: isCompacted ? await compactAt(new Thread(await reader(thread), thread)) : undefined,
        offlineDir: isNew ? cwd : undefined,
      });
    },
    copies: (thread, dir, onFailure) => fileCopies({ folder: copies, thread, dir, onFailure }),
    modelName: async (thread, request) => (await wantedFor(thread, request)).wanted.model,
    reader,
    isWritable: (channel) => WRITABLE.includes(channel),
    begin,
  };
  return graph;
}

/**
 * Prepares a thread for a message: ends the turn that it stopped in, and gives a new thread a title. In mode `plan` the
 * open plan has to be approved again; for an answer only if the mode is new.
 */
async function begin(
  { thread, ready: { agent, settings } }: Begun,
  { task, isAnswer }: TurnMessage,
): Promise<Record<string, unknown>> {
  const state = await thread.state();
  const { title, run } = (state.values ?? {}) as { title?: string; run?: RunSettings };
  const isChanged = !isDeepStrictEqual(settings, run);
  if (isAnswer) {
    if (isChanged) await waitingInput(agent, state, ["run", settings]);
    if (run && settings?.mode === "plan" && run.mode !== "plan") await thread.proposePlan();
    return {};
  }
  if (task !== undefined) await thread.closeTurn(task);
  return {
    ...(isChanged && { run: settings }),
    ...(title === undefined && { title: titleOf(task) }),
  };
}

/** The title of a thread, by its first message. */
export function titleOf(task: string | undefined): string {
  return shortened(task || "A file");
}
