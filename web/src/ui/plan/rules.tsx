import { inSight } from "../../../../src/threads/log/words.ts";
import type { PlanDraft } from "../../model/plan-draft.ts";

export function Rules({ rules }: { rules: readonly string[] }) {
  if (rules.length === 0) return null;
  return (
    <>
      <h3 className="label">Rules</h3>
      <ul className="rules">
        {rules.map((rule) => (
          <li key={rule}>{inSight(rule)}</li>
        ))}
      </ul>
    </>
  );
}

/** A field for the rules of a plan. It follows the agent's changes until the user types. */
export function RulesField({
  rules,
  draft,
  onDraft,
}: {
  rules: readonly string[];
  draft: PlanDraft;
  onDraft: (draft: PlanDraft) => void;
}) {
  const text = draft.rules ?? rules.join("\n");
  return (
    <label className="rules-field">
      <span className="label">Rules for the whole plan, one in a line</span>
      <textarea
        rows={Math.max(2, text.split("\n").length)}
        value={text}
        onChange={({ currentTarget: { value } }) =>
          onDraft({ ...draft, rules: value === rules.join("\n") ? undefined : value })
        }
      />
    </label>
  );
}
