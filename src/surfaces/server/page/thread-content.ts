import { HumanMessage } from "@langchain/core/messages";
import type { CheckpointTuple } from "@langchain/langgraph";
import { countTodos, type Todo } from "../../../plan/index.ts";
import { keptMessages } from "../../../threads/edit/index.ts";
import { type Host, type HostEvent, taskOf, type RunRequest } from "../../../threads/host/index.ts";
import { planAt } from "../../../threads/plan/index.ts";
import { replay, type ReplayOptions } from "../../../threads/record/index.ts";
import { settingsOfThread } from "../../../threads/thread/index.ts";
import { hasFailed, type ThreadInfo, refuse } from "../http/index.ts";
import type { PageParts } from "./parts.ts";
import { threadOut } from "./thread-out.ts";

/**
 * The content of a thread for the page, now or at a checkpoint; later events follow on the stream. `find` looks the
 * thread up again at each call.
 */
export async function openThread(
  parts: PageParts,
  find: () => Promise<ThreadInfo>,
  checkpoint?: string,
): Promise<object> {
  const { host, saver } = parts;
  const { id } = await find();
  const hadSettings = (await settingsOfThread(saver, id)) !== undefined;
  const saved = await host.thread(id).read();
  // Together: an event after `last` is one of the active run.
  const finding = checkpoint === undefined ? host.active(id) : undefined;
  const { last } = host.events;
  const active = await finding;
  const live = (active?.live.all() ?? []).filter(({ n = 0 }) => n <= last);
  // The active run reports its own steps as events: the replay stops where it began.
  const at = checkpoint ?? (live.length > 0 ? active?.head : undefined);
  const isFirstRun = live.length > 0 && active?.head === undefined;
  const state = await saved.state(at);
  const settings = await settingsOfThread(saver, id);
  // The agent was built before the settings were saved, and may not have the current node.
  if (settings && !hadSettings) return openThread(parts, find, checkpoint);
  const info = await find();
  // A run began or ended meanwhile: what was read may have a part of it, and the stream sends all of it.
  const hasMoved = host.events.since(last).some((entry) => "event" in entry && isOfRun(entry.event, id));
  if (checkpoint === undefined && live.length === 0 && hasMoved) return openThread(parts, find);
  const head: unknown = state.config.configurable?.["checkpoint_id"];
  if (checkpoint !== undefined && state.createdAt === undefined) {
    refuse(404, `There is no checkpoint ${checkpoint} in ${id}.`);
  }
  // A run that has asked is about to end: its questions are in the thread.
  const questions = active ? (active.hasAsked ? await saved.questions() : []) : await saved.questions(state);
  const isRunning = live.length === 0 && (active !== undefined || info.summary?.state === "running");
  // The replay ends at the checkpoint, or where the events of the active run begin.
  const until = checkpoint === undefined ? live[0]?.at : Date.parse(state.createdAt ?? "");
  const past = isFirstRun
    ? []
    : await replay(saved, {
        state,
        questions: active ? [] : questions,
        isRunning,
        until,
        failure: active || checkpoint !== undefined ? undefined : await failureOf(host, info),
      });
  const thread = await threadOut(info, parts);
  const kept = checkpoint === undefined ? await keptMessages(saved) : [];
  return {
    // Still "running" if the run has ended meanwhile: what was read of it is not complete.
    thread: active ? { ...thread, status: "running" } : thread,
    // The mode of the next run: from settings files if the thread has none.
    settings: {
      ...(settings ?? parts.own?.defaults),
      ...(saved.agent.mode && { mode: saved.agent.mode }),
    },
    questions,
    /** Messages that the agent has not read yet. */
    kept: kept.map(({ content }) => new HumanMessage({ content }).text),
    ...(typeof head === "string" && { head }),
    events: [...past, ...live],
    last,
  };
}

function isOfRun({ kind, thread }: HostEvent, id: string): boolean {
  return kind === "run" && thread === id;
}

/** The failure of a thread's last run; undefined if it did not fail. */
async function failureOf({ ledger }: Host, info: ThreadInfo): Promise<ReplayOptions["failure"]> {
  if (!hasFailed(info)) return undefined;
  const failedRun = (await ledger.runs(info.id)).find(({ status }) => status === "error");
  if (failedRun?.reason === undefined) return undefined;
  const task = taskOf((failedRun.request as RunRequest).input ?? {});
  return { error: failedRun.reason, ...(task !== undefined && { task }) };
}

/** The checkpoints of a thread, newest first. Reads no messages, and yields to the event loop. */
export async function historyOf(
  { host, saver }: PageParts,
  thread: string,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<object> {
  const { agent } = await host.thread(thread).read();
  const options = {
    limit: limit + 1,
    ...(before !== undefined && { before: { configurable: { checkpoint_id: before } } }),
  };
  const checkpoints: object[] = [];
  const place = { configurable: { thread_id: thread, checkpoint_ns: "" } };
  for await (const saved of saver.list(place, options)) {
    checkpoints.push(checkpointOut(saved, planAt(agent, saved)));
    await new Promise(setImmediate);
  }
  return { checkpoints: checkpoints.slice(0, limit), more: checkpoints.length > limit };
}

function checkpointOut({ checkpoint, metadata }: CheckpointTuple, todos: readonly Todo[]): object {
  const { completed, cancelled, total } = countTodos(todos);
  return {
    id: checkpoint.id,
    at: Date.parse(checkpoint.ts),
    step: metadata?.step,
    source: metadata?.source,
    todos: { done: completed, total: total - cancelled },
  };
}
