import type { Conflict } from "../../../../src/plan/apply/merge.ts";
import type { Todo } from "../../../../src/plan/todo/todo.ts";
import { inSight, STATUS_NAMES } from "../../../../src/threads/story/words.ts";

/** An item that the agent changed while somebody edited it: both versions, and the choice. */
export function ConflictChoice({
  conflict,
  onSettle,
}: {
  conflict: Conflict;
  onSettle: (conflict: Conflict, keep: "mine" | "theirs") => void;
}) {
  return (
    <div className="conflict" role="group" aria-label="Changed by both of you">
      <p>The agent changed this item too.</p>
      <dl>
        <dt>Yours</dt>
        <dd>{versionWords(conflict.mine)}</dd>
        <dt>The agent’s</dt>
        <dd>{versionWords(conflict.theirs)}</dd>
      </dl>
      <div className="row">
        <button type="button" onClick={() => onSettle(conflict, "mine")}>
          Keep mine
        </button>
        <button type="button" onClick={() => onSettle(conflict, "theirs")}>
          Take theirs
        </button>
      </div>
    </div>
  );
}

function versionWords(todo: Todo | undefined): string {
  return todo ? `${inSight(todo.content)} (${STATUS_NAMES[todo.status]})` : "Removed";
}
