import type { CheckpointTuple } from "@langchain/langgraph";
import { countTodos, type Todo } from "../../../plan/index.ts";
import { type Host, taskOf, type RunRequest } from "../../../threads/host/index.ts";
import { planAt } from "../../../threads/plan/index.ts";
import { replay, type ReplayOptions } from "../../../threads/record/index.ts";
import { settingsOfThread } from "../../../threads/thread/index.ts";
import { hasFailed, type KnownThread, refuse } from "../http/index.ts";
import type { PageParts } from "./parts.ts";
import { threadOut } from "./thread-out.ts";

/**
 * All that the page shows of a thread, now or as of a checkpoint; what happens later is on the stream. `find` looks the
 * thread up, as often as it is asked.
 */
export async function openThread(
  parts: PageParts,
  find: () => Promise<KnownThread>,
  checkpoint?: string,
): Promise<object> {
  const { host, saver } = parts;
  const { id } = await find();
  // Before anything is read: what happens meanwhile is told twice rather than not at all.
  const { last } = host.events;
  const isSet = (await settingsOfThread(saver, id)) !== undefined;
  const found = await host.thread(id).read();
  const active = checkpoint === undefined ? await host.active(id) : undefined;
  const live = active?.live.all() ?? [];
  // What the run at work has done is in its own events, and so is left out of what was before.
  const at = checkpoint ?? (live.length > 0 ? active?.head : undefined);
  const isEmpty = live.length > 0 && active?.head === undefined;
  const state = await found.state(at);
  const settings = await settingsOfThread(saver, id);
  // An agent that was made before they were there may not know the step that the thread is in.
  if (settings && !isSet) return openThread(parts, find, checkpoint);
  const known = await find();
  const head: unknown = state.config.configurable?.["checkpoint_id"];
  if (checkpoint !== undefined && state.createdAt === undefined) {
    refuse(404, `There is no checkpoint ${checkpoint} in ${id}.`);
  }
  // A run that has asked is about to end: what it asks is in the thread.
  const questions = active ? (active.hasAsked ? await found.questions() : []) : await found.questions(state);
  const isRunning = live.length === 0 && (active !== undefined || known.summary?.state === "running");
  // What is later than the moment that is shown, or is told by the run at work.
  const until = checkpoint === undefined ? live[0]?.at : Date.parse(state.createdAt ?? "");
  const past = isEmpty
    ? []
    : await replay(found, {
        state,
        questions: active ? [] : questions,
        isRunning,
        until,
        failure: active || checkpoint !== undefined ? undefined : await failureOf(host, known),
      });
  const thread = await threadOut(known, parts);
  return {
    // What was read of a run at work is not all of it, though it may have ended meanwhile.
    thread: active ? { ...thread, status: "running" } : thread,
    // The mode that its next run has: settings files count where the thread has none.
    settings: {
      ...(settings ?? parts.own?.defaults),
      ...(found.agent.mode && { mode: found.agent.mode }),
    },
    questions,
    ...(typeof head === "string" && { head }),
    events: [...past, ...live.filter(({ n = 0 }) => n <= last)],
    last,
  };
}

/** Why the last run of a thread failed, if it did. */
async function failureOf({ ledger }: Host, known: KnownThread): Promise<ReplayOptions["failure"]> {
  if (!hasFailed(known)) return undefined;
  const failed = (await ledger.runs(known.id)).find(({ status }) => status === "error");
  if (failed?.reason === undefined) return undefined;
  const task = taskOf((failed.request as RunRequest).input ?? {});
  return { error: failed.reason, ...(task !== undefined && { task }) };
}

/** The checkpoints of a thread, newest first. Does not look at messages, and lets others have their turn. */
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
  const found: object[] = [];
  const place = { configurable: { thread_id: thread, checkpoint_ns: "" } };
  for await (const saved of saver.list(place, options)) {
    found.push(checkpointOut(saved, planAt(agent, saved)));
    await new Promise(setImmediate);
  }
  return { checkpoints: found.slice(0, limit), more: found.length > limit };
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
