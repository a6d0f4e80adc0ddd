import { useState } from "react";
import { isDirty, startDraft, toSend } from "../model/plan-draft.ts";
import type { AnswerProps } from "./answer-props.ts";
import { DraftList } from "./draft-list.tsx";
import { Reject } from "./reject.tsx";

/** A plan that waits for leave: the list itself can be changed on the way. */
export function PlanApproval({ question, isSending, onDecide }: AnswerProps) {
  const [draft, setDraft] = useState(() => startDraft(question.todos ?? []));
  const [isRejecting, setRejecting] = useState(false);
  const isChanged = isDirty(draft);
  return (
    <>
      <DraftList draft={draft} onDraft={setDraft} />
      {isRejecting ? (
        <Reject isSending={isSending} onDecide={onDecide} onCancel={() => setRejecting(false)} />
      ) : (
        <div className="row">
          <button
            type="button"
            className="primary"
            disabled={isSending}
            onClick={() =>
              onDecide(isChanged ? { type: "edit", todos: toSend(draft.mine) } : { type: "approve" })
            }
          >
            {isChanged ? "Approve with my changes" : "Approve the plan"}
          </button>
          <button type="button" disabled={isSending} onClick={() => setRejecting(true)}>
            Reject
          </button>
          {isChanged && (
            <button
              type="button"
              className="quiet"
              onClick={() => setDraft(startDraft(question.todos ?? []))}
            >
              Undo my changes
            </button>
          )}
        </div>
      )}
    </>
  );
}
