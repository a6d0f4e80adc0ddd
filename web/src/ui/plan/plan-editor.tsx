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
import { useStore } from "../use-store.ts";
import { DraftList } from "./draft-list.tsx";
import { RulesField } from "./rules.tsx";
import type { Change } from "./use-draft.ts";

/** The attempts to put an edit on top of a plan that moved on, before the person is asked. */
const MOST_TRIES = 5;

/**
 * The plan under somebody's hands while the agent works: what the agent changes elsewhere comes in by itself, what
 * both changed is shown side by side.
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
  /** Gets undefined when it is saved, or given up. */
  onDraft: (change: Change<PlanDraft | undefined>) => void;
}) {
  const store = useStore();
  const [problem, setProblem] = useState<string>();
  const [isSaving, setSaving] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  /** The number of changes so far. */
  const changes = useRef(0);

  useEffect(() => onDraft((current) => current && rebased(current, todos)), [todos]);
  // At once: who is at another item already is not taken away from it.
  useLayoutEffect(() => {
    // Who comes back to one that was begun is not taken to it.
    if (!isDirty(draft)) form.current?.querySelector<HTMLElement>(".draft-text")?.focus();
  }, []);

  const onDone = (): void => onDraft(undefined);
  const change = (next: PlanDraft): void => {
    changes.current += 1;
    onDraft(next);
  };
  const conflicts = conflictsOf(draft, todos);
  const save = async (): Promise<void> => {
    setSaving(true);
    setProblem(await sent());
    setSaving(false);
  };
  /** Sends the draft; returns what keeps it from being saved. */
  const sent = async (): Promise<string | undefined> => {
    let theirs = todos;
    const before = changes.current;
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      if (conflictsOf(draft, theirs).length > 0) return "The agent changed the same items: choose for each.";
      const { mine } = rebased(draft, theirs);
      const written = await writePlan(store, {
        thread,
        todos: toSend(mine),
        base: theirs,
        rules: rulesToSend(draft),
      });
      if (written.type === "refused") return written.text;
      if (written.type === "saved") {
        // The agent's step may take long: what was changed meanwhile is on top of what is saved.
        if (changes.current === before) onDone();
        else onDraft((now) => now && rebased({ ...now, base: mine }, written.todos));
        return undefined;
      }
      theirs = written.todos;
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
        if (event.key === "Escape") onDone();
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
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      <div className="row">
        <button
          type="submit"
          className="primary"
          disabled={isSaving || conflicts.length > 0 || !isDirty(draft)}
        >
          Save the plan
        </button>
        <button type="button" className="quiet" onClick={onDone}>
          Cancel
        </button>
      </div>
    </form>
  );
}
