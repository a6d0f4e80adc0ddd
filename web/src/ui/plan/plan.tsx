import { countTodos, type Todo } from "../../../../src/plan/todo/todo.ts";
import { planTitle } from "../../../../src/threads/log/plans.ts";
import { planOf, rulesOf, type ThreadState } from "../../../../src/threads/log/thread.ts";
import { inSight } from "../../../../src/threads/log/words.ts";
import { startDraft, type PlanDraft } from "../../model/plan-draft.ts";
import { PLAN_DRAFT } from "../../store/drafts.ts";
import { shownThread, type PageState } from "../../store/state.ts";
import { usePage } from "../use-store.ts";
import { PlanEditor } from "./plan-editor.tsx";
import { HelperList, PlanItem } from "./plan-item.tsx";
import { Rules } from "./rules.tsx";
import { useDraft } from "./use-draft.ts";

const NO_PLAN = "No plan yet. The agent makes one when a task takes several steps.";
const EMPTY: Readonly<Record<PageState["loading"], string>> = {
  idle: NO_PLAN,
  missing: NO_PLAN,
  loading: "Loading the plan…",
  failed: "The plan is shown once the thread is there.",
};

/** The plan of the thread, including closed items. */
export function Plan() {
  const page = usePage();
  const { open } = page;
  const [draft, setDraft] = useDraft<PlanDraft | undefined>(PLAN_DRAFT, undefined);
  const thread = shownThread(page);
  const todos = planOf(thread);
  const { total, completed, cancelled } = countTodos(todos);
  const canEdit = !page.past && open !== undefined && !page.listed?.isForeign;
  // A draft is rebased onto the plan, which has to be loaded.
  const isEditing = draft !== undefined && open !== undefined && page.loading === "idle";
  return (
    <section className={`plan ${thread.isRunning ? "plan-live" : ""}`} aria-labelledby="plan-head">
      <header className="panel-head">
        <h2 id="plan-head">Plan</h2>
        {todos.length > 0 && (
          <span className="count">
            {completed} of {total - cancelled} done
          </span>
        )}
        {canEdit && todos.length > 0 && !isEditing && (
          <button
            type="button"
            className="quiet small"
            aria-keyshortcuts="e"
            onClick={() => setDraft(startDraft(todos))}
          >
            Edit
          </button>
        )}
      </header>
      {todos.length > 0 && (
        <progress
          className="progress"
          max={Math.max(1, total - cancelled)}
          value={completed}
          aria-label="Items done"
        />
      )}
      {isEditing ? (
        <PlanEditor
          key={open}
          thread={open}
          todos={planOf(page.thread)}
          rules={rulesOf(page.thread)}
          draft={draft}
          onDraft={setDraft}
        />
      ) : todos.length === 0 ? (
        <p className="empty">{EMPTY[page.loading]}</p>
      ) : (
        <>
          <Rules rules={rulesOf(thread)} />
          <Items thread={thread} todos={todos} />
        </>
      )}
      {!isEditing && <FreeHelpers thread={thread} todos={todos} />}
      <EarlierPlans thread={thread} />
    </section>
  );
}

function Items({ thread, todos }: { thread: ThreadState; todos: readonly Todo[] }) {
  return (
    <ol className="items">
      {todos.map((todo) => (
        <PlanItem key={todo.id} todo={todo} thread={thread} />
      ))}
    </ol>
  );
}

/** The plans of earlier requests, collapsed, the latest first. */
function EarlierPlans({ thread }: { thread: ThreadState }) {
  const { plans } = thread;
  return plans
    .slice(0, -1)
    .map((plan, index) => (
      <details key={plan.at} className="earlier-plan">
        <summary>{inSight(planTitle(plan, index + 1, plans.length))}</summary>
        <Rules rules={plan.rules} />
        <Items thread={thread} todos={plan.todos} />
      </details>
    ))
    .toReversed();
}

/** Sub-agents that work on no item of the plan. */
function FreeHelpers({ thread, todos }: { thread: ThreadState; todos: readonly Todo[] }) {
  const ids = new Set([todos, ...thread.plans.map((plan) => plan.todos)].flat().map(({ id }) => id));
  const free = [...thread.helpers.values()].filter(
    ({ owner, todoId }) => owner.split("/").length === 2 && (todoId === undefined || !ids.has(todoId)),
  );
  if (free.length === 0) return null;
  return (
    <>
      <h3 className="label">Also working</h3>
      <HelperList helpers={free} thread={thread} />
    </>
  );
}
