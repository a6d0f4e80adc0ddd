import { useRef } from "react";
import { flushSync } from "react-dom";
import type { Conflict } from "../../../../src/plan/apply/merge.ts";
import { type Todo } from "../../../../src/plan/todo/todo.ts";
import { inSight, STATUS_NAMES } from "../../../../src/threads/log/words.ts";
import { STATUSES, type Status } from "../../../../src/vocabulary.ts";
import {
  addItem,
  moveItem,
  type PlanDraft,
  removeItem,
  renameItem,
  setStatus,
} from "../../model/plan-draft.ts";

interface DraftListProps {
  draft: PlanDraft;
  onDraft: (draft: PlanDraft) => void;
  conflicts?: readonly Conflict[];
  onSettle?: (conflict: Conflict, keep: "mine" | "theirs") => void;
}

/** An editable list of a plan's items: text, status, order, removal and new items. */
export function DraftList({ draft, onDraft, conflicts = [], onSettle }: DraftListProps) {
  const list = useRef<HTMLOListElement>(null);
  /** Applies a change and focuses an item. Renders synchronously, so that the next key reaches the focused item. */
  const change = (next: PlanDraft, focused: number): void => {
    flushSync(() => onDraft(next));
    list.current?.querySelectorAll<HTMLElement>(".draft-text")[focused]?.focus();
  };
  const add = (): void => change(addItem(draft, ""), draft.mine.length);
  const removed = conflicts.filter(({ id }) => !draft.mine.some((todo) => todo.id === id));
  return (
    <>
      <ol className="draft" ref={list}>
        {draft.mine.map((todo, index) => {
          const conflict = conflicts.find(({ id }) => id === todo.id);
          return (
            <li key={todo.id} className="draft-item">
              <DraftRow
                todo={todo}
                place={index}
                count={draft.mine.length}
                onRename={(text) => onDraft(renameItem(draft, todo.id, text))}
                onStatus={(status) => onDraft(setStatus(draft, todo.id, status))}
                onMove={(by) => onDraft(moveItem(draft, todo.id, by))}
                onRemove={() => change(removeItem(draft, todo.id), Math.max(0, index - 1))}
                onEnter={add}
              />
              {conflict && onSettle && <ConflictChoice conflict={conflict} onSettle={onSettle} />}
            </li>
          );
        })}
        {onSettle &&
          removed.map((conflict) => (
            <li key={conflict.id} className="draft-item">
              <ConflictChoice conflict={conflict} onSettle={onSettle} />
            </li>
          ))}
      </ol>
      <button type="button" className="quiet" onClick={add}>
        Add an item
      </button>
    </>
  );
}

interface RowProps {
  todo: Todo;
  place: number;
  count: number;
  onRename: (text: string) => void;
  onStatus: (status: Status) => void;
  onMove: (by: number) => void;
  onRemove: () => void;
  onEnter: () => void;
}

function DraftRow({ todo, place, count, onRename, onStatus, onMove, onRemove, onEnter }: RowProps) {
  const name = inSight(todo.content) || "the new item";
  return (
    <div className="draft-row">
      <textarea
        className="draft-text"
        rows={1}
        aria-label={`Item ${place + 1}`}
        value={todo.content}
        onInput={(event) => onRename(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && !event.isComposing) {
            event.preventDefault();
            onEnter();
          }
          if (event.altKey && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
            event.preventDefault();
            onMove(event.key === "ArrowUp" ? -1 : 1);
          }
        }}
      />
      <div className="draft-tools">
        <select
          aria-label={`Status of ${name}`}
          value={todo.status}
          onChange={(event) => onStatus(event.currentTarget.value as Status)}
        >
          {STATUSES.map((status) => (
            <option key={status} value={status}>
              {STATUS_NAMES[status]}
            </option>
          ))}
        </select>
        <button
          type="button"
          className="icon"
          aria-label={`Move ${name} up`}
          disabled={place === 0}
          onClick={() => onMove(-1)}
        >
          ↑
        </button>
        <button
          type="button"
          className="icon"
          aria-label={`Move ${name} down`}
          disabled={place === count - 1}
          onClick={() => onMove(1)}
        >
          ↓
        </button>
        <button type="button" className="icon" aria-label={`Remove ${name}`} onClick={onRemove}>
          ✕
        </button>
      </div>
    </div>
  );
}

/** Both versions of an item that the agent changed during the edit, with buttons to choose one. */
function ConflictChoice({
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
