import { useEffect, useRef, useState } from "react";
import type { Answer } from "../client/contract.ts";
import { answer } from "../store/actions.ts";
import { QuestionCard } from "./question-card.tsx";
import { usePage, useStore } from "./use-store.ts";

/**
 * Everything that the thread waits for, helpers' questions too: one card each. Where several wait, the run goes on when
 * all are decided, or when somebody sends what they have.
 */
export function Questions() {
  const store = useStore();
  const { thread } = usePage();
  const { questions } = thread;
  const [decided, setDecided] = useState<Readonly<Record<string, Answer>>>({});
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
    const isWriting = active instanceof HTMLTextAreaElement && active.value !== "";
    if (fresh < 0 || isWriting) return;
    const heading = box.current?.querySelectorAll<HTMLElement>("h2")[fresh];
    heading?.focus();
    // What is to be decided stands below it.
    heading?.scrollIntoView({ block: "start" });
  }, [ids]);

  const send = async (answers: Readonly<Record<string, Answer>>): Promise<void> => {
    setSending(true);
    setProblem(await answer(store, answers));
    setDecided({});
    setSending(false);
  };
  const decide = (id: string, value: Answer | undefined): void => {
    const { [id]: _, ...others } = decided;
    const next = value === undefined ? others : { ...others, [id]: value };
    setDecided(next);
    if (questions.every((question) => question.id in next)) void send(next);
  };
  if (questions.length === 0) return problem ? <p className="problem">{problem}</p> : null;
  const count = questions.filter(({ id }) => id in decided).length;
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
        <p className="questions-rest">
          {count} of {questions.length} decided.{" "}
          <button type="button" disabled={isSending} onClick={() => void send(decided)}>
            Go on with {count === 1 ? "this one" : "these"}
          </button>
        </p>
      )}
    </div>
  );
}
