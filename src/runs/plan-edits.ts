import type { RunControl } from "@langchain/langgraph";
import { HarnessError } from "../errors.ts";
import type { Todo } from "../plan/index.ts";
import type { PlanEdit } from "./merged-plan.ts";

/** Gets the plan that is about to be written, and may throw to call the edit off. */
export type BeginEdit = (todos: readonly Todo[]) => void | Promise<void>;

type Write = (edit: PlanEdit, begin: BeginEdit | undefined) => Promise<Todo[]>;

interface Waiting {
  edit: PlanEdit;
  begin: BeginEdit | undefined;
  resolve: (todos: Todo[]) => void;
  reject: (error: unknown) => void;
}

/**
 * What people change in the plan of a thread while it runs here. Make one for each run, give it to `drive`, and submit
 * edits at any time: each is made between two steps, at the end of the step that is under way, and the model hears of
 * it at its next call. The plans of sub-agents that are at work are their own, and not to be edited.
 */
export class PlanEdits {
  #waiting: Waiting[] = [];
  #write: Write | undefined;
  #control: RunControl | undefined;
  #isInStep = false;
  #isLeaving = false;
  #isOver = false;
  #work: Promise<void> = Promise.resolve();

  /**
   * Resolves to the plan with the edit in it. Rejects, and leaves the plan and the run as they are, with the errors of
   * `writePlan`, and with `run-ended` after the run: then `writePlan` itself is the way.
   */
  submit(edit: PlanEdit, begin?: BeginEdit): Promise<Todo[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ edit, begin, resolve, reject });
      if (!this.#control) void this.settle();
      else if (this.#isInStep) this.#control.requestDrain("edit");
    });
  }

  /** Asks the run to stop at the end of the step that is under way; another process goes on from there. */
  leave(): void {
    this.#isLeaving = true;
    if (this.#isInStep) this.#control?.requestDrain("leave");
  }

  get isLeaving(): boolean {
    return this.#isLeaving;
  }

  /** @internal The run begins: edits are made with `write` from now on. */
  open(write: Write): void {
    this.#write = write;
    void this.settle();
  }

  /** @internal Steps are about to run, which `control` can ask to stop. */
  async enter(control: RunControl): Promise<void> {
    for (let work: unknown; work !== this.#work;) {
      work = this.#work;
      await work;
    }
    this.#control = control;
  }

  /** @internal A step is under way. Before the first one a run that stops would lose the answers it goes on with. */
  noteStep(): void {
    if (!this.#control || this.#isInStep) return;
    this.#isInStep = true;
    if (this.#waiting.length > 0 || this.#isLeaving) this.#control.requestDrain("edit");
  }

  /** @internal No step runs. */
  exit(): void {
    this.#control = undefined;
    this.#isInStep = false;
  }

  /** @internal Makes the edits that wait, each once. One that the turn is in the way of waits for its end. */
  settle(): Promise<void> {
    this.#work = this.#work.then(() => this.#tryAll());
    return this.#work;
  }

  /** @internal The run is over: whatever waits is made now, or refused. */
  async close(): Promise<void> {
    this.#isOver = true;
    await this.settle();
    this.#write = undefined;
  }

  async #tryAll(): Promise<void> {
    // Those that come before the run begins wait for it.
    if (!this.#write && !this.#isOver) return;
    const later: Waiting[] = [];
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      try {
        if (!this.#write) throw ended();
        next.resolve(await this.#write(next.edit, next.begin));
      } catch (error) {
        if (!this.#isOver && HarnessError.from(error)?.code === "turn-unfinished") later.push(next);
        else next.reject(error);
      }
    }
    this.#waiting = later;
  }
}

function ended(): HarnessError {
  return new HarnessError(
    "run-ended",
    "The run has ended: the plan was not changed. Change it in the thread.",
  );
}
