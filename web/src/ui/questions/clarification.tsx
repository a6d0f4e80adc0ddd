import { useId } from "react";
import { inSight } from "../../../../src/threads/log/words.ts";
import { questionDraft } from "../../store/drafts.ts";
import { Markdown } from "../conversation/story-nodes.tsx";
import { useDraft } from "../plan/use-draft.ts";
import type { AnswerProps } from "./answer-props.ts";

/** A question with options to choose from, and a field for another answer. */
export function Clarification({ question, isSending, onDecide }: AnswerProps) {
  const [text, setText] = useDraft(questionDraft(question.id, "words"), "");
  const id = useId();
  const { options } = question;
  return (
    <>
      <div className="card-body" tabIndex={0} role="group" aria-label="Question">
        <Markdown text={question.text} />
      </div>
      <div className="decision">
        {options.length > 0 && (
          <div className="row choices">
            {options.map((option) => (
              <button key={option} type="button" disabled={isSending} onClick={() => onDecide(option)}>
                {inSight(option)}
              </button>
            ))}
          </div>
        )}
        <form
          className="own-answer"
          onSubmit={(event) => {
            event.preventDefault();
            if (text.trim()) onDecide(text.trim());
          }}
        >
          <label htmlFor={id}>{options.length > 0 ? "Or in your own words" : "Your answer"}</label>
          <textarea
            id={id}
            rows={2}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
              event.preventDefault();
              if (text.trim()) onDecide(text.trim());
            }}
          />
          <button type="submit" className="primary" disabled={isSending || text.trim() === ""}>
            Answer
          </button>
        </form>
      </div>
    </>
  );
}
