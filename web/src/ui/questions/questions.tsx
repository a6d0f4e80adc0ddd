import { useEffect, useRef, useState } from "react";
import type { SentAnswer } from "../../client/contract.ts";
import { ofQuestions } from "../../model/message-effect.ts";
import { answer } from "../../store/actions.ts";
import { DECISIONS } from "../../store/drafts.ts";
import { Problem } from "../failed.tsx";
import { useDraft } from "../plan/use-draft.ts";
import { usePage, useStore } from "../use-store.ts";
import { QuestionCard } from "./question-card.tsx";

type Answers = Readonly<Record<string, SentAnswer>>;

/**
 * The open questions, those of sub-agents included: one card each. With several, the run continues when all are
 * answered, or when the user sends the answers so far.
 */
export function Questions() {
  const store = useStore();
  const { thread } = usePage();
  const { questions } = thread;
  const [draft, setDecided] = useDraft<Answers>(DECISIONS, {});
  // Without questions that were answered elsewhere.
  const decided = ofQuestions(draft, questions);
  const [problem, setProblem] = useState<string>();
  const [isSending, setSending] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const ids = questions.map(({ id }) => id).join(" ");
  const lastIds = useRef("");

  useEffect(() => {
    const before = lastIds.current.split(" ");
    const firstNew = questions.findIndex(({ id }) => !before.includes(id));
    lastIds.current = ids;
    const active = document.activeElement;
    // Keeps the focus while the user types; the status line also announces questions.
    const isField = active?.matches("textarea, [type=search]");
    const isWriting = isField && (active as HTMLTextAreaElement).value !== "";
    if (firstNew < 0 || isWriting) return;
    const heading = box.current?.querySelectorAll<HTMLElement>("h2")[firstNew];
    heading?.focus();
    // The form is below the heading.
    heading?.scrollIntoView({ block: "start" });
  }, [ids]);

  /** Sends answers; `fallback` are the decisions to keep if that fails. */
  const send = async (answers: Answers, fallback: Answers): Promise<void> => {
    setSending(true);
    const result = await answer(store, answers);
    setProblem(result.type === "taken" ? undefined : result.text);
    setDecided(result.type === "failed" ? fallback : {});
    setSending(false);
  };
  const decide = (id: string, value: SentAnswer | undefined): void => {
    const { [id]: _, ...others } = decided;
    const next = value === undefined ? others : { ...others, [id]: value };
    setDecided(next);
    // If that fails, the last question is open again, and deciding it sends all once more.
    if (questions.every((question) => question.id in next)) void send(next, others);
  };
  if (questions.length === 0) return <Problem text={problem} />;
  const count = Object.keys(decided).length;
  return (
    <div className="questions" ref={box}>
      {questions.map((question) => (
        <QuestionCard
          key={question.id}
          question={question}
          decided={decided[question.id]}
          isSending={isSending}
          onDecide={(value) => decide(question.id, value)}
        />
      ))}
      <Problem text={problem} />
      {count > 0 && count < questions.length && (
        <p className="questions-rest row">
          {count} of {questions.length} decided.{" "}
          <button type="button" disabled={isSending} onClick={() => void send(decided, decided)}>
            Continue with {count === 1 ? "this one" : "these"}
          </button>
        </p>
      )}
    </div>
  );
}
