import { useEffect, useLayoutEffect, useRef, useState } from "react";
import type { Todo } from "../../../../src/plan/todo/todo.ts";
import {
  conflictsOf,
  isDirty,
  rebased,
  rulesToSend,
  settle,
  toSend,
  type PlanDraft,
} from "../../model/plan-draft.ts";
import { writePlan } from "../../store/actions.ts";
import { Problem } from "../failed.tsx";
import { useStore } from "../use-store.ts";
import { DraftList } from "./draft-list.tsx";
import { RulesField } from "./rules.tsx";
import type { Change } from "./use-draft.ts";

/** Attempts to save onto a plan that keeps changing, before the user is notified. */
const MOST_TRIES = 5;

/**
 * Edits a plan while the agent works: the agent's changes of other items are merged, and conflicts are shown with both
 * versions.
 */
export function PlanEditor({
  thread,
  todos,
  rules,
  draft,
  onDraft,
}: {
  thread: string;
  todos: readonly Todo[];
  rules: readonly string[];
  draft: PlanDraft;
  /** Gets undefined when the draft is saved or cancelled. */
  onDraft: (change: Change<PlanDraft | undefined>) => void;
}) {
  const store = useStore();
  const [problem, setProblem] = useState<string>();
  const [isSaving, setSaving] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const changes = useRef(0);

  useEffect(() => onDraft((current) => current && rebased(current, todos)), [todos]);
  // A layout effect: a later one could move the focus away from another item.
  useLayoutEffect(() => {
    // Not for a draft from before: the user may only have come back to the thread.
    if (!isDirty(draft)) form.current?.querySelector<HTMLElement>(".draft-text")?.focus();
  }, []);

  const close = (): void => onDraft(undefined);
  const change = (next: PlanDraft): void => {
    changes.current += 1;
    onDraft(next);
  };
  const conflicts = conflictsOf(draft, todos);
  const save = async (): Promise<void> => {
    setSaving(true);
    setProblem(await send());
    setSaving(false);
  };
  /** Sends the draft; returns the reason if it was not saved. */
  const send = async (): Promise<string | undefined> => {
    let theirs = todos;
    const before = changes.current;
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      if (conflictsOf(draft, theirs).length > 0) return "The agent changed the same items: choose for each.";
      const { mine } = rebased(draft, theirs);
      const result = await writePlan(store, {
        thread,
        todos: toSend(mine),
        base: theirs,
        rules: rulesToSend(draft),
      });
      if (result.type === "refused") return result.text;
      if (result.type === "saved") {
        // Saving may take as long as the agent's step: changes made meanwhile stay in the draft.
        if (changes.current === before) close();
        else onDraft((now) => now && rebased({ ...now, base: mine }, result.todos));
        return undefined;
      }
      theirs = result.todos;
    }
    return "The plan keeps changing. Try again in a moment.";
  };
  return (
    <form
      className="editor"
      ref={form}
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") close();
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void save();
      }}
    >
      <DraftList
        draft={draft}
        onDraft={change}
        conflicts={conflicts}
        onSettle={(conflict, keep) => change(settle(draft, conflict, keep))}
      />
      <RulesField rules={rules} draft={draft} onDraft={change} />
      <Problem text={problem} />
      <div className="row">
        <button
          type="submit"
          className="primary"
          disabled={isSaving || conflicts.length > 0 || !isDirty(draft)}
        >
          Save the plan
        </button>
        <button type="button" className="quiet" onClick={close}>
          Cancel
        </button>
      </div>
    </form>
  );
}
