import type { ThreadStore } from "../storage/index.ts";
import { drive, snapshotOf, type DriveOptions } from "./drive.ts";
import type { Ending } from "./ending.ts";
import type { RunEvent, RunEventBody } from "./events.ts";
import { OUTCOME_CODES } from "./exit-codes.ts";
import { costOf, type Prices } from "./prices.ts";
import type { Hold } from "./thread.ts";
import { EMPTY_VIEW, reduce, type RunView } from "./view.ts";

type RunEnd = Extract<RunEvent, { type: "run-end" }>;

export interface ConductOptions extends Omit<DriveOptions, "emit" | "held"> {
  held: Hold;
  events: RunEvents;
  task?: string | undefined;
  resumed: boolean;
  dir?: string | undefined;
  /** What a person should know before it begins. */
  notice?: string | undefined;
  prices?: Prices | undefined;
  /** Called before the run's last event, and may add to it. */
  onEnd?: (end: Ending) => Promise<Partial<Pick<RunEnd, "resume">>>;
}

/** Runs a thread that the caller holds, from its first event to its last, whatever surface shows it. Does not throw. */
export async function conduct(input: object | null, options: ConductOptions): Promise<Ending> {
  const { agent, thread, model, events, task, resumed, dir, notice, prices, onEnd } = options;
  events.emit({
    type: "run-start",
    model: model.name,
    resumed,
    ...(task !== undefined && { task }),
    ...(dir !== undefined && { dir }),
  });
  if (notice !== undefined) events.emit({ type: "notice", text: notice });
  const snapshot = resumed ? await snapshotOf(agent, thread) : undefined;
  if (snapshot) events.emit(snapshot);
  const end = await drive(input, { ...options, emit: (body) => events.emit(body) });
  const { completed, cancelled, total } = end.counts;
  const { noteProgress } = agent.graph.checkpointer as Partial<Pick<ThreadStore, "noteProgress">>;
  // A thread that was taken over by another process has its progress from there.
  await noteProgress
    ?.call(agent.graph.checkpointer, thread, { done: completed + cancelled, total })
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

/** Stamps the events of a run, and keeps what there is to see of it. */
export class RunEvents {
  view: RunView = EMPTY_VIEW;
  readonly #thread: string;
  readonly #onEvent: (event: RunEvent, view: RunView) => void;

  constructor(thread: string, onEvent: (event: RunEvent, view: RunView) => void) {
    this.#thread = thread;
    this.#onEvent = onEvent;
  }

  emit(body: RunEventBody): void {
    const { type, ...rest } = body;
    const event = { type, version: 1, at: Date.now(), thread: this.#thread, ...rest } as RunEvent;
    this.view = reduce(this.view, event);
    this.#onEvent(event, this.view);
  }
}
