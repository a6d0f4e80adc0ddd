import { questionDraft } from "../../store/drafts.ts";
import { useDraft } from "../plan/use-draft.ts";
import type { AnswerProps } from "./answer-props.ts";

/** A form to reject with a reason, which the agent reads. */
export function Reject({ question, isSending, onDecide, onCancel }: AnswerProps & { onCancel: () => void }) {
  const [reason, setReason] = useDraft(questionDraft(question.id, "reason"), "");
  return (
    <form
      className="decision reject"
      onSubmit={(event) => {
        event.preventDefault();
        const text = reason.trim();
        onDecide({ type: "reject", message: text || undefined });
      }}
    >
      <label>
        Why not? The agent reads this.
        <textarea
          autoFocus
          rows={2}
          value={reason}
          placeholder="Optional"
          onInput={(event) => setReason(event.currentTarget.value)}
        />
      </label>
      <div className="row">
        <button type="submit" className="danger" disabled={isSending}>
          Reject
        </button>
        <button type="button" className="quiet" onClick={onCancel}>
          Back
        </button>
      </div>
    </form>
  );
}
