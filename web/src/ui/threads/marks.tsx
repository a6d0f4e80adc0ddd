import type { ReactNode } from "react";
import type { Status } from "../../../../src/plan/todo/todo.ts";

/** A drawing of an item's status; the word stands beside it. */
export function StatusMark({ status }: { status: Status }) {
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
