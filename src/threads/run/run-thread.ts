import type { ThreadStore } from "../../storage/index.ts";
import type { Ending } from "../events/ending.ts";
import type { RunEvent, RunEventBody } from "../events/events.ts";
import { OUTCOME_CODES } from "../events/exit-codes.ts";
import { EMPTY_VIEW, reduce, type RunView } from "../events/view.ts";
import { costOf, type Prices } from "../prepare/prices.ts";
import type { Hold } from "../thread/thread.ts";
import type { Traces } from "../traces/index.ts";
import type { FileCopies } from "../undo/file-copies.ts";
import { currentTurn } from "../undo/undo-last.ts";
import { runGraph, snapshotOf, type RunGraphOptions } from "./run-graph.ts";

type RunEnd = Extract<RunEvent, { type: "run-end" }>;

export interface RunThreadOptions extends Omit<RunGraphOptions, "emit" | "held"> {
  held: Hold;
  events: RunEvents;
  task?: string | undefined;
  resumed: boolean;
  dir?: string | undefined;
  /** A notice to print before the run begins. */
  notice?: string | undefined;
  prices?: Prices | undefined;
  traces?: Traces | undefined;
  /** Keeps the files that the turn changes, for an undo. */
  copies?: FileCopies | undefined;
  /** Called before the run's last event, and may add to it. */
  onEnd?: (end: Ending) => Promise<Partial<Pick<RunEnd, "resume">>>;
}

/** Runs a thread that the caller holds, from its first event to its last, whatever surface shows it. Does not throw. */
export async function runThread(input: object | null, options: RunThreadOptions): Promise<Ending> {
  const { thread, model, events, task, resumed, dir, notice, prices, traces, copies, onEnd } = options;
  if (traces) events.follow(traces.run(prices));
  if (copies) {
    copies.begin(turnIn(input) ?? (await currentTurn(thread).catch(() => undefined)) ?? "");
    events.follow(copies.follow);
  }
  events.emit({
    type: "run-start",
    model: model.name,
    resumed,
    ...(task !== undefined && { task }),
    ...(dir !== undefined && { dir }),
  });
  if (notice !== undefined) events.emit({ type: "notice", text: notice });
  const snapshot = resumed ? await snapshotOf(thread) : undefined;
  if (snapshot) events.emit(snapshot);
  const end = await runGraph(input, { ...options, emit: (body) => events.emit(body) });
  const { completed, cancelled, total } = end.counts;
  const { noteProgress } = thread.agent.graph.checkpointer as Partial<Pick<ThreadStore, "noteProgress">>;
  // A thread that was taken over by another process has its progress from there.
  await noteProgress
    ?.call(thread.agent.graph.checkpointer, thread.id, { done: completed + cancelled, total })
    .catch(() => {});
  const more = await onEnd?.(end);
  events.emit({
    type: "run-end",
    ...end,
    exitCode: OUTCOME_CODES[end.outcome],
    usage: events.view.usage,
    ...(prices && { cost: costOf(events.view.usage, prices) }),
    ...more,
  });
  return end;
}

/** The id of the message that begins a turn in an input. */
function turnIn(input: object | null): string | undefined {
  const { messages = [] } = (input ?? {}) as { messages?: { id?: string } | { id?: string }[] };
  return [messages].flat().at(-1)?.id;
}

/** Stamps the events of a run, and keeps what there is to see of it. */
export class RunEvents {
  view: RunView = EMPTY_VIEW;
  readonly #thread: string;
  readonly #onEvent: (event: RunEvent, view: RunView) => void;
  readonly #followers: ((event: RunEvent) => void)[] = [];

  constructor(thread: string, onEvent: (event: RunEvent, view: RunView) => void) {
    this.#thread = thread;
    this.#onEvent = onEvent;
  }

  /** Tells another of everything from here on. */
  follow(follower: (event: RunEvent) => void): void {
    this.#followers.push(follower);
  }

  emit(body: RunEventBody): void {
    const { type, ...rest } = body;
    const event = { type, version: 1, at: Date.now(), thread: this.#thread, ...rest } as RunEvent;
    this.view = reduce(this.view, event);
    this.#onEvent(event, this.view);
    for (const follower of this.#followers) follower(event);
  }
}
