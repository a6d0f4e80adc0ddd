import { dispatchCustomEvent } from "@langchain/core/callbacks/dispatch";
import type { BaseMessage } from "@langchain/core/messages";
import { isGraphBubbleUp } from "@langchain/langgraph";
import type { Change, Issue, Mark, Todo } from "../../../plan/index.ts";
import { own } from "../../../plan/todo/own.ts";

/** What a verifier can look at. */
export interface VerifyContext {
  /** The plan as it would be with the completion accepted. */
  todos: readonly Todo[];
  /** The conversation in the graph state. */
  messages: readonly BaseMessage[];
  /** The whole graph state, such as `files`. */
  state: Readonly<Record<string, unknown>>;
  /** The item was in progress. If not, nobody knows when the work on it began. */
  wasStarted: boolean;
  /**
   * Calls to tools other than the plan's that finished since the item was started. For one that was not: since the
   * earliest start among the items that stay in progress.
   */
  toolCalls: number;
  /** Aborted when the run is cancelled or the time is up. */
  signal: AbortSignal;
}

/**
 * Decides whether an item may count as completed. `true` or nothing accepts it; `false` or a reason refuses it,
 * and so does an error. The model is told the reason and the item stays as it was.
 */
export type Verifier = (todo: Todo, context: VerifyContext) => Verdict | Promise<Verdict>;

export type Verdict = boolean | string | null | void;

/** A verifier that refuses a completion when no tool but the plan's own has finished that could be its work. */
export function workWasDone(): Verifier {
  return (_todo, { toolCalls, wasStarted }) => {
    if (toolCalls > 0) return true;
    const found = wasStarted
      ? "no tool has finished since it was started"
      : "it was not started, and no tool has finished that could be its work";
    return `${found}. Do the work, look at the result, then mark it`;
  };
}

/** The custom event of LangChain's callbacks that says an item was not accepted as completed. */
export const COMPLETION_REFUSAL = "completion-refusal";

/** What that event says. */
export interface CompletionRefusal {
  todoId: string;
  reason: string;
}

/** Runs the verifier on every item that a change completes and returns the refusals. */
export async function verifyCompletions(
  verify: Verifier,
  changes: readonly Change[],
  { contextFor, timeout, signal }: VerifyRun,
): Promise<Issue[]> {
  const issues = await Promise.all(
    completedIds(changes).map(async (id): Promise<Issue[]> => {
      const [todo, context] = contextFor(id);
      const reason = await judge(verify, todo, { context, timeout, signal });
      if (reason === undefined) return [];
      const refusal: CompletionRefusal = { todoId: id, reason };
      // Fails outside of a run, where nobody listens.
      await dispatchCustomEvent(COMPLETION_REFUSAL, refusal).catch(() => {});
      const message = `Item ${id} is not accepted as completed: ${reason.replace(/\.$/, "")}.`;
      return [
        {
          rule: "verification",
          item: id,
          field: "status",
          sent: "completed",
          valid: "verified work",
          message,
        },
      ];
    }),
  );
  return issues.flat();
}

export interface VerifyRun {
  contextFor: (id: string) => [Todo, Omit<VerifyContext, "signal">];
  timeout: number;
  signal: AbortSignal | undefined;
}

/** How much work each completion of a change can be about, when so many `toolCalls` have finished in all. */
export function workFor(
  changes: readonly Change[],
  {
    before,
    marks,
    toolCalls,
  }: { before: readonly Todo[]; marks: Readonly<Record<string, Mark>>; toolCalls: number },
): (id: string) => Pick<VerifyContext, "wasStarted" | "toolCalls"> {
  const since = (id: string): number => toolCalls - (own(marks, id)?.toolCalls ?? toolCalls);
  // Work on an item that is completed as well was that item's: a claim beside it must not profit from it.
  const completed = completedIds(changes);
  const staying = before.filter(({ id, status }) => status === "in_progress" && !completed.includes(id));
  const elsewhere = Math.max(0, ...staying.map(({ id }) => since(id)));
  return (id) => {
    const wasStarted = own(marks, id) !== undefined;
    return { wasStarted, toolCalls: wasStarted ? since(id) : elsewhere };
  };
}

function completedIds(changes: readonly Change[]): string[] {
  return changes.flatMap((change) => {
    if (change.type === "todo-status" && change.to === "completed") return change.id;
    if (change.type === "todo-add" && change.todo.status === "completed") return change.todo.id;
    return [];
  });
}

/** Node takes a longer delay for none at all. */
const MAX_DELAY = 2 ** 31 - 1;

async function judge(
  verify: Verifier,
  todo: Todo,
  {
    context,
    timeout,
    signal,
  }: Pick<VerifyRun, "timeout" | "signal"> & { context: Omit<VerifyContext, "signal"> },
): Promise<string | undefined> {
  const timer = new AbortController();
  // Not AbortSignal.timeout: its timer would let the process end while a check hangs.
  const clock = setTimeout(() => timer.abort(new Error("time is up")), Math.min(timeout, MAX_DELAY));
  const either = signal ? AbortSignal.any([signal, timer.signal]) : timer.signal;
  try {
    const verdict = await Promise.race([verify(todo, { ...context, signal: either }), aborted(either)]);
    if ((verdict ?? true) === true) return undefined;
    return typeof verdict === "string" ? verdict : "the check did not pass";
  } catch (error) {
    if (signal?.aborted || isGraphBubbleUp(error)) throw error;
    if (timer.signal.aborted) return `its check did not finish within ${timeout / 1000} s`;
    return `its check failed: ${error instanceof Error ? error.message : String(error)}`;
  } finally {
    clearTimeout(clock);
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason as Error);
    else signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}
