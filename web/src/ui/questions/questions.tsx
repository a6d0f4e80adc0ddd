import { useEffect, useRef, useState } from "react";
import type { Answer, Question } from "../../client/contract.ts";
import { answer } from "../../store/actions.ts";
import { useDraft } from "../plan/use-draft.ts";
import { usePage, useStore } from "../use-store.ts";
import { QuestionCard } from "./question-card.tsx";

type Answers = Readonly<Record<string, Answer>>;

/**
 * The open questions, those of sub-agents included: one card each. With several, the run goes on when all are
 * answered, or when the person sends the answers so far.
 */
export function Questions() {
  const store = useStore();
  const { thread } = usePage();
  const { questions } = thread;
  const [kept, setDecided] = useDraft<Answers>("decided", {});
  // Somebody else may have answered one of them.
  const decided = ofQuestions(kept, questions);
  const [problem, setProblem] = useState<string>();
  const [isSending, setSending] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const ids = questions.map(({ id }) => id).join(" ");
  const seen = useRef("");

  useEffect(() => {
    const before = seen.current.split(" ");
    const fresh = questions.findIndex(({ id }) => !before.includes(id));
    seen.current = ids;
    const active = document.activeElement;
    // Somebody in the middle of a sentence is not interrupted; the status line says it too.
    const isField = active?.matches("textarea, [type=search]");
    const isWriting = isField && (active as HTMLTextAreaElement).value !== "";
    if (fresh < 0 || isWriting) return;
    const heading = box.current?.querySelectorAll<HTMLElement>("h2")[fresh];
    heading?.focus();
    // What is to be decided stands below it.
    heading?.scrollIntoView({ block: "start" });
  }, [ids]);

  /** Sends answers; `left` is what stays decided where that fails. */
  const send = async (answers: Answers, left: Answers): Promise<void> => {
    setSending(true);
    const answered = await answer(store, answers);
    setProblem(answered.type === "taken" ? undefined : answered.text);
    setDecided(answered.type === "failed" ? left : {});
    setSending(false);
  };
  const decide = (id: string, value: Answer | undefined): void => {
    const { [id]: _, ...others } = decided;
    const next = value === undefined ? others : { ...others, [id]: value };
    setDecided(next);
    // Where it fails, the last one is open again as it was, and sends all when it is decided once more.
    if (questions.every((question) => question.id in next)) void send(next, others);
  };
  if (questions.length === 0) {
    return problem ? (
      <p className="problem" role="alert">
        {problem}
      </p>
    ) : null;
  }
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
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      {count > 0 && count < questions.length && (
        <p className="questions-rest row">
          {count} of {questions.length} decided.{" "}
          <button type="button" disabled={isSending} onClick={() => void send(decided, decided)}>
            Go on with {count === 1 ? "this one" : "these"}
          </button>
        </p>
      )}
    </div>
  );
}

function ofQuestions(answers: Answers, questions: readonly Question[]): Answers {
  return Object.fromEntries(
    questions.flatMap(({ id }) => {
      const given = answers[id];
      return given === undefined ? [] : [[id, given]];
    }),
  );
}
