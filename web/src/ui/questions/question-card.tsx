import { inSight } from "../../../../src/threads/log/words.ts";
import { ownerName } from "../../../../src/threads/view/view.ts";
import type { SentAnswer, Question } from "../../client/contract.ts";
import type { AnswerProps } from "./answer-props.ts";
import { Clarification } from "./clarification.tsx";
import { Permission } from "./permission.tsx";
import { PlanApproval } from "./plan-approval.tsx";

/** One question with its form, or with the decision so far. */
export function QuestionCard({
  decided,
  onDecide,
  ...rest
}: Omit<AnswerProps, "onDecide"> & {
  decided: SentAnswer | undefined;
  onDecide: (answer: SentAnswer | undefined) => void;
}) {
  const { question } = rest;
  const heading = headingOf(question);
  return (
    <section className="card question" aria-label={heading}>
      <h2 tabIndex={-1}>{heading}</h2>
      {question.error && <p className="problem">{inSight(question.error)}</p>}
      {decided === undefined ? (
        <Body {...rest} onDecide={onDecide} />
      ) : (
        <p className="decided row">
          {decisionWords(decided)}{" "}
          <button
            type="button"
            className="quiet"
            disabled={rest.isSending}
            onClick={() => onDecide(undefined)}
          >
            Change
          </button>
        </p>
      )}
    </section>
  );
}

function Body(props: AnswerProps) {
  switch (props.question.kind) {
    case "permission":
      return <Permission {...props} />;
    case "plan-approval":
      return <PlanApproval {...props} />;
    case "clarification":
    case "other":
      return <Clarification {...props} />;
  }
}

function headingOf({ kind, owner, call }: Question): string {
  const who = owner === undefined ? "The agent" : `The sub-agent ${inSight(ownerName(owner))}`;
  switch (kind) {
    case "permission":
      return `${who} wants to use ${call ? inSight(call.name) : "a tool"}`;
    case "plan-approval":
      return `${who} proposes a plan`;
    case "clarification":
    case "other":
      return `${who} asks`;
  }
}

function decisionWords(answer: SentAnswer): string {
  if (typeof answer === "string") return `Your answer: ${answer}`;
  if (answer.type === "approve")
    return answer.always === undefined ? "Approved." : `Approved, and always ${answer.always}.`;
  if (answer.type === "edit") return "Approved with your changes.";
  return answer.message ? `Rejected: ${answer.message}` : "Rejected.";
}
