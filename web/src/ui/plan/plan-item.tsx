import type { ReactNode } from "react";
import type { Todo } from "../../../../src/plan/todo/todo.ts";
import { parentOf } from "../../../../src/threads/log/entries.ts";
import { agentOf, type Helper, type ThreadState } from "../../../../src/threads/log/thread.ts";
import { amount, duration, inSight, statusName } from "../../../../src/threads/log/words.ts";
import { MAIN } from "../../../../src/threads/view/view.ts";
import { type Status } from "../../../../src/vocabulary.ts";
import { HelperFacts } from "../conversation/helper.tsx";
import { useNow } from "../use-store.ts";

/** An item with its cost, and the sub-agents that worked on it. */
export function PlanItem({ todo, thread }: { todo: Todo; thread: ThreadState }) {
  const helpers = [...thread.helpers.values()].filter(
    ({ owner, todoId }) => todoId === todo.id && parentOf(owner) === MAIN,
  );
  return (
    <li className={`item item-${todo.status}`}>
      <StatusMark status={todo.status} />
      <div className="item-body">
        <p className="item-text">{inSight(todo.content)}</p>
        <p className="item-about">
          <span className={`word word-${todo.status}`}>{statusName(todo)}</span>
          <Cost todo={todo} thread={thread} />
          {todo.mustVerify && todo.status !== "completed" && <span>must be verified</span>}
          {todo.priority === "high" && <span>high priority</span>}
          {todo.status === "pending" && todo.dependsOn && <span>after {names(todo.dependsOn, thread)}</span>}
        </p>
        {todo.note && <p className="item-note">{inSight(todo.note)}</p>}
        <HelperList helpers={helpers} thread={thread} />
      </div>
    </li>
  );
}

/** Sub-agents under their item or parent; nothing without any. */
export function HelperList({ helpers, thread }: { helpers: readonly Helper[]; thread: ThreadState }) {
  if (helpers.length === 0) return null;
  return (
    <ul className="helpers">
      {helpers.map((helper) => (
        <HelperRow key={helper.owner} helper={helper} thread={thread} />
      ))}
    </ul>
  );
}

/** A sub-agent: its facts, current activity, own plan and own sub-agents. */
function HelperRow({ helper, thread }: { helper: Helper; thread: ThreadState }) {
  const agent = agentOf(thread, helper.owner);
  const doing = [...(agent?.tools.values() ?? [])].at(-1);
  const own = [...thread.helpers.values()].filter(({ owner }) => parentOf(owner) === helper.owner);
  return (
    <li className="helper-row">
      <p className="helper-name">{inSight(helper.name)}</p>
      <HelperFacts helper={helper} thread={thread} />
      {doing && helper.endedAt === undefined && (
        <p className="helper-doing">
          {inSight(doing.name)} {inSight(doing.about)}
        </p>
      )}
      {agent && agent.todos.length > 0 && (
        <ol className="items items-small">
          {agent.todos.map((todo) => (
            <li key={todo.id} className={`item item-${todo.status}`}>
              <StatusMark status={todo.status} />
              <span className="item-text">
                {inSight(todo.content)} <span className="hidden">{statusName(todo)}</span>
              </span>
            </li>
          ))}
        </ol>
      )}
      <HelperList helpers={own} thread={thread} />
    </li>
  );
}

/** Time and tokens of an item: as counted by the harness, plus those since then. */
function Cost({ todo, thread }: { todo: Todo; thread: ThreadState }) {
  const { actuals, status, estimate } = todo;
  const { marks, askedAt, endedAt } = thread.view;
  const mark = status === "in_progress" ? marks.get(todo.id) : undefined;
  const now = useNow(mark !== undefined && thread.isRunning);
  const spent = mark ? (askedAt ?? endedAt ?? now) - mark.at : 0;
  const time = Math.max(actuals?.elapsedMs ?? 0, spent);
  const counted = actuals ? actuals.inputTokens + actuals.outputTokens : 0;
  const tokens = Math.max(counted, Math.round(mark?.tokens ?? 0));
  return (
    <>
      {time >= 1000 && <span>{duration(time)}</span>}
      {time < 1000 && estimate !== undefined && status === "pending" && (
        <span>about {duration(estimate * 60_000)}</span>
      )}
      {tokens > 0 && <span>{amount(tokens)} tokens</span>}
    </>
  );
}

function names(ids: readonly string[], thread: ThreadState): string {
  const todos = agentOf(thread, MAIN)?.todos ?? [];
  return ids.map((id) => todos.findIndex((todo) => todo.id === id) + 1 || id).join(", ");
}

/** An icon of an item's status, next to its label. */
function StatusMark({ status }: { status: Status }) {
  return (
    <svg className={`mark mark-${status}`} viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      {DRAWINGS[status]}
    </svg>
  );
}

const DRAWINGS: Readonly<Record<Status, ReactNode>> = {
  pending: <circle cx="10" cy="10" r="7" />,
  in_progress: (
    <>
      <circle cx="10" cy="10" r="7" className="mark-track" />
      <path d="M10 3a7 7 0 0 1 7 7" className="mark-turn" />
    </>
  ),
  completed: (
    <>
      <circle cx="10" cy="10" r="7.5" className="mark-fill" />
      <path d="m6.5 10.2 2.4 2.4 4.6-5" className="mark-tick" />
    </>
  ),
  blocked: (
    <>
      <circle cx="10" cy="10" r="7" />
      <path d="M10 6.2v4.6M10 13.6v.2" />
    </>
  ),
  cancelled: (
    <>
      <circle cx="10" cy="10" r="7" />
      <path d="M6.8 10h6.4" />
    </>
  ),
};
