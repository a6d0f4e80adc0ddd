import { shortened } from "../../middleware/text/shortened.ts";
import { createRunAgent, type RunAgent } from "../prepare/agent.ts";
import { prepareRun, type PrepareOptions, type WantedSettings } from "../prepare/prepare-run.ts";
import type { RunSettings } from "../prepare/settings.ts";
import { settingsOfThread } from "../thread/thread-settings.ts";
import { Thread } from "../thread/thread.ts";
import { compactAt } from "../undo/earlier-messages.ts";
import { fileCopies } from "../undo/file-copies.ts";
import type { HostedGraph } from "./graphs.ts";

export interface ThreadsGraphOptions extends Omit<PrepareOptions, "offlineDir" | "live" | "place"> {
  /** Settings of a new thread. */
  defaults: WantedSettings;
  /** The folder of copies for an undo. Default: none are kept. */
  copies?: string | undefined;
  /** Where the offline model works, which knows nothing but directories. Default: nowhere. */
  cwd?: string | undefined;
}

/** The state that clients may write: how a thread is run, and what it is called, are kept in it, too. */
const WRITABLE = ["messages", "files", "todos", "planRules"];

/** The graph of Holdfast's own threads, as `holdfast run` makes them: each is run as its settings say. */
export function threadsGraph(options: ThreadsGraphOptions): HostedGraph {
  const { saver, defaults, cwd, copies, projectOf } = options;
  const readers = new Map<string, RunAgent>();
  const settingsFor = async (thread: string | undefined) =>
    (thread === undefined ? undefined : await settingsOfThread(saver, thread)) ?? defaults;
  const reader = async (thread?: string): Promise<RunAgent> => {
    // To build an agent takes longer than to read a thread, and the same settings make the same agent.
    const { model = "", ...rest } = await settingsFor(thread);
    const settings = { ...rest, model };
    const project = await projectOf?.(settings);
    const key = JSON.stringify([settings, project?.config.mode]);
    const agent = readers.get(key) ?? createRunAgent({ settings, checkpointer: saver, project });
    readers.set(key, agent);
    return agent;
  };
  return {
    prepare: async (thread, { settings: given, compact }) => {
      const known = await settingsOfThread(saver, thread);
      const wanted = known ?? { ...defaults, ...(given as Partial<RunSettings>) };
      const at = compact && known ? await compactAt(new Thread(await reader(thread), thread)) : undefined;
      return prepareRun(wanted, { ...options, compactAt: at, offlineDir: known ? undefined : cwd });
    },
    copies: (thread, dir) => fileCopies({ folder: copies, thread, dir }),
    modelName: async (thread, { settings: given }) => {
      const { model } = (await settingsOfThread(saver, thread)) ?? {
        ...defaults,
        ...(given as Partial<RunSettings>),
      };
      return model;
    },
    reader,
    isWritable: (channel) => WRITABLE.includes(channel),
    complete: async (input, { state, ready, task }) => {
      if (task !== undefined)
        await new Thread(ready.agent, String(state.config.configurable?.["thread_id"])).closeTurn(task);
      const { title, run } = state.values as { title?: string; run?: RunSettings };
      return {
        ...input,
        ...(run === undefined && { run: ready.settings }),
        ...(title === undefined && { title: shortened(task ?? "") }),
      };
    },
  };
}
