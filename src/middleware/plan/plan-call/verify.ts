import { dispatchCustomEvent } from "@langchain/core/callbacks/dispatch/web";
import type { BaseMessage } from "@langchain/core/messages";
import { ensureConfig } from "@langchain/core/runnables";
import { isGraphBubbleUp } from "@langchain/langgraph";
import { unlessAborted } from "../../../errors.ts";
import type { Change, Issue, Todo } from "../../../plan/index.ts";
import { own } from "../../../plan/todo/index.ts";
import type { PlanSetup } from "../setup.ts";
import type { PlanMemory } from "../state.ts";
import { lastCalls, type FinishedCall } from "./finished-calls.ts";
import type { VerifyContext } from "./verifier.ts";

/** The name of the custom event for LangChain's callbacks when an item is not accepted as completed. */
export const COMPLETION_REFUSAL = "completion-refusal";

/** Details of that event. */
export interface CompletionRefusal {
  todoId: string;
  reason: string;
}

/** A change that completes items, with its context. */
export interface Completing {
  changes: readonly Change[];
  /** The plan before and after the change. */
  before: readonly Todo[];
  todos: readonly Todo[];
  memory: Pick<PlanMemory, "marks" | "madeAt">;
  /** The number of calls to other tools that had finished before it. */
  toolCalls: number;
  /** Calls of the same message that finished before it. */
  results?: readonly FinishedCall[];
  messages: readonly BaseMessage[];
  state: Readonly<Record<string, unknown>>;
  signal: AbortSignal | undefined;
}

/** The verifier's result for a change. */
export interface Verified {
  issues: Issue[];
  /** The ids of items that are accepted without evidence. */
  unverified: ReadonlySet<string>;
}

const ACCEPTED: Verified = { issues: [], unverified: new Set() };

/** Runs the verifier on every item that a change completes. */
export async function verifyCompletions(setup: PlanSetup, completing: Completing): Promise<Verified> {
  const { changes, todos } = completing;
  const items = completedIds(changes).map((id) => todos.find((todo) => todo.id === id)!);
  if (items.length === 0 || (!setup.verify && !items.some(({ mustVerify }) => mustVerify))) return ACCEPTED;
  const contextFor = contextOf(setup, completing);
  const unverified = new Set<string>();
  const issues = await Promise.all(
    items.map(async (todo): Promise<Issue[]> => {
      const context = contextFor(todo.id);
      const verdict = await judge(setup, todo, { context, signal: completing.signal });
      if (verdict === undefined) return [];
      const mayUseNote = verdict.isOpenToNotes && !todo.mustVerify;
      if (mayUseNote && context.note !== undefined) {
        unverified.add(todo.id);
        return [];
      }
      return [await refusal(todo, `${verdict.reason.replace(/\.$/, "")}.${advice(setup, todo, mayUseNote)}`)];
    }),
  );
  return { issues: issues.flat(), unverified };
}

async function refusal({ id }: Todo, reason: string): Promise<Issue> {
  const event: CompletionRefusal = { todoId: id, reason };
  // Fails outside of a run, which has no listeners, and in a browser, where LangChain cannot find the run.
  await dispatchCustomEvent(COMPLETION_REFUSAL, event, ensureConfig()).catch(() => {});
  const message = `Item ${id} is not accepted as completed: ${reason}`;
  return {
    rule: "verification",
    item: id,
    field: "status",
    sent: "completed",
    valid: "verified work",
    message,
  };
}

/** Advice on how to complete a refused item, for the tools of the preset. */
function advice({ preset, reports }: PlanSetup, { id, mustVerify }: Todo, mayUseNote: boolean): string {
  if (mustVerify) return " It must be verified: do it, or have the user mark it.";
  if (!mayUseNote) return "";
  const example = `${id}: what you did`;
  if (!preset.tools.update) return " Do it, or give it a note of what was done.";
  return ` Do it, or report ${reports === "inline" ? `todo_done "${example}"` : `{"done":"${example}"}`}.`;
}

/** The context for judging each completion of a change. */
function contextOf(
  { toolNames: planTools }: PlanSetup,
  { changes, before, todos, memory, toolCalls, results = [], messages, state }: Completing,
): (id: string) => Omit<VerifyContext, "signal"> {
  const { marks, madeAt } = memory;
  const since = (id: string): number => toolCalls - (own(marks, id)?.toolCalls ?? toolCalls);
  // Work on an item that is completed in the same change does not count for the others.
  const completed = completedIds(changes);
  const staying = before.filter(({ id, status }) => status === "in_progress" && !completed.includes(id));
  const elsewhere = Math.max(0, ...staying.map(({ id }) => since(id)));
  const { calls, earlier, gone } = lastCalls(messages, { count: toolCalls - madeAt, planTools });
  return (id) => {
    const wasStarted = own(marks, id) !== undefined;
    const note = noteIn(changes, id);
    return {
      todos,
      messages,
      state,
      wasStarted,
      toolCalls: (wasStarted ? since(id) : elsewhere) + results.length,
      calls: [...calls, ...results],
      callsBefore: earlier,
      together: completed,
      gone,
      ...(note !== undefined && { note }),
    };
  };
}

/** The note of a change on an item, if it has at least two letters or digits. */
function noteIn(changes: readonly Change[], id: string): string | undefined {
  const notes = changes.flatMap((change) => {
    if (change.type === "todo-edit" && change.id === id) return change.set.note ?? [];
    return change.type === "todo-add" && change.todo.id === id ? (change.todo.note ?? []) : [];
  });
  return notes.find((note) => /[\p{L}\p{N}].*[\p{L}\p{N}]/u.test(note));
}

export function completedIds(changes: readonly Change[]): string[] {
  return changes.flatMap((change) => {
    if (change.type === "todo-status" && change.to === "completed") return change.id;
    if (change.type === "todo-add" && change.todo.status === "completed") return change.todo.id;
    return [];
  });
}

/** The longest delay of a timer: Node fires at once for a longer one. */
const MAX_DELAY = 2 ** 31 - 1;

interface Refusal {
  reason: string;
  /** Whether a note of what was done is enough. */
  isOpenToNotes: boolean;
}

async function judge(
  { verify, verifyTimeout: timeout }: PlanSetup,
  todo: Todo,
  { context, signal }: { context: Omit<VerifyContext, "signal">; signal: AbortSignal | undefined },
): Promise<Refusal | undefined> {
  const refused = (reason: string): Refusal => ({ reason, isOpenToNotes: false });
  if (!verify) return todo.mustVerify ? refused("nothing here can verify it") : undefined;
  const timer = new AbortController();
  // Not AbortSignal.timeout: its timer would let the process end while a check hangs.
  const clock = setTimeout(() => timer.abort(new Error("time is up")), Math.min(timeout, MAX_DELAY));
  const either = signal ? AbortSignal.any([signal, timer.signal]) : timer.signal;
  try {
    const verdict = await unlessAborted(verify(todo, { ...context, signal: either }), either);
    if ((verdict ?? true) === true) return undefined;
    if (typeof verdict === "object" && verdict) return { reason: verdict.unverified, isOpenToNotes: true };
    return refused(typeof verdict === "string" ? verdict : "the check did not pass");
  } catch (error) {
    if (signal?.aborted || isGraphBubbleUp(error)) throw error;
    if (timer.signal.aborted) return refused(`its check did not finish within ${timeout / 1000} s`);
    return refused(`its check failed: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    clearTimeout(clock);
  }
}
