import { inSight } from "../../../../src/threads/log/words.ts";
import type { SentAnswer } from "../../client/contract.ts";
import { isDirty, rulesToSend, startDraft, toSend, type PlanDraft } from "../../model/plan-draft.ts";
import { questionDraft } from "../../store/drafts.ts";
import { DraftList } from "../plan/draft-list.tsx";
import { RulesField } from "../plan/rules.tsx";
import { useDraft } from "../plan/use-draft.ts";
import type { AnswerProps } from "./answer-props.ts";
import { Reject } from "./reject.tsx";

/** A plan that waits for approval, and can be edited before. */
export function PlanApproval(props: AnswerProps) {
  const { question, isSending, onDecide } = props;
  const [draft, setDraft] = useDraft(questionDraft(question.id, "plan"), startDraft(question.todos ?? []));
  const [isRejecting, setRejecting] = useDraft(questionDraft(question.id, "rejecting"), false);
  const isChanged = isDirty(draft);
  const calls = question.text.split("\n").slice(0, -1);
  return (
    <>
      <div className="card-body">
        {calls.length > 0 && <pre className="calls">{inSight(calls.join("\n"))}</pre>}
        <DraftList draft={draft} onDraft={setDraft} />
        <RulesField rules={question.rules ?? []} draft={draft} onDraft={setDraft} />
      </div>
      {isRejecting ? (
        <Reject {...props} onCancel={() => setRejecting(false)} />
      ) : (
        <div className="decision row">
          <button
            type="button"
            className="primary"
            disabled={isSending}
            onClick={() => onDecide(isChanged ? editOf(draft) : { type: "approve" })}
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

function editOf(draft: PlanDraft): SentAnswer {
  const rules = rulesToSend(draft);
  return { type: "edit", todos: toSend(draft.mine), rules };
}
