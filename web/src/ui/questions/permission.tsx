import { useEffect, useState } from "react";
import { fieldText, fieldValue, shownArguments } from "../../../../src/threads/log/arguments.ts";
import { inSight } from "../../../../src/threads/log/words.ts";
import { ApiError } from "../../client/api.ts";
import { questionDraft } from "../../store/drafts.ts";
import { Arguments, Diff } from "../conversation/story-nodes.tsx";
import { Failed } from "../failed.tsx";
import { useDraft } from "../plan/use-draft.ts";
import { usePage, useStore } from "../use-store.ts";
import type { AnswerProps } from "./answer-props.ts";
import { Reject } from "./reject.tsx";

/** A call that waits for permission: its arguments, and buttons to approve, edit or reject it. */
export function Permission(props: AnswerProps) {
  const { question, isSending, onDecide } = props;
  const [mode, setMode] = useDraft<"decide" | "edit" | "reject">(
    questionDraft(question.id, "mode"),
    "decide",
  );
  const { failed } = usePage();
  const offers = useOffers(question.id);
  const { call } = question;
  if (!call)
    return failed.calls ? <Failed part="calls" /> : <p className="empty">Loading what it is about…</p>;
  const { name, args } = call;
  return (
    <>
      {question.notice && <pre className="problem">{inSight(question.notice)}</pre>}
      {mode === "edit" ? (
        <EditedArguments
          id={question.id}
          args={args}
          isSending={isSending}
          onCancel={() => setMode("decide")}
          onSave={(edited) => onDecide({ type: "edit", editedAction: { name, args: edited } })}
        />
      ) : (
        <div className="card-body">
          <Proposed name={name} args={args} />
        </div>
      )}
      {mode === "decide" && (
        <div className="decision row">
          <button
            type="button"
            className="primary"
            disabled={isSending}
            onClick={() => onDecide({ type: "approve" })}
          >
            Approve
          </button>
          {offers.map((label) => (
            <button
              key={label}
              type="button"
              disabled={isSending}
              onClick={() => onDecide({ type: "approve", always: label })}
            >
              Always allow {inSight(label)}
            </button>
          ))}
          <button type="button" disabled={isSending} onClick={() => setMode("edit")}>
            Edit
          </button>
          <button type="button" disabled={isSending} onClick={() => setMode("reject")}>
            Reject
          </button>
        </div>
      )}
      {mode === "reject" && <Reject {...props} onCancel={() => setMode("decide")} />}
    </>
  );
}

/** What may be allowed from now on with the answer to a question. Without an answer of the server nothing is. */
function useOffers(id: string): readonly string[] {
  const { api } = useStore();
  const { open } = usePage();
  const [offers, setOffers] = useState<readonly string[]>([]);
  useEffect(() => {
    if (open === undefined) return;
    void api.offers(open).then(
      (given) => setOffers(given.offers?.[id] ?? []),
      () => setOffers([]),
    );
  }, [open, id]);
  return offers;
}

/** The proposed call; a file to write is shown as a diff to the current one. */
function Proposed({ name, args }: { name: string; args: Record<string, unknown> }) {
  const store = useStore();
  const { open } = usePage();
  const display = shownArguments(name, args);
  const path = display.type === "write" ? display.path : undefined;
  /** The current content; null if the server has none. */
  const [before, setBefore] = useState<string | null>();
  const [problem, setProblem] = useState<string>();
  const compare = async (): Promise<void> => {
    if (path === undefined || open === undefined) return;
    setProblem(undefined);
    try {
      setBefore((await store.api.file(open, path)).after ?? "");
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 404) setBefore(null);
      else setProblem(error.message);
    }
  };
  useEffect(() => void compare(), [path, open]);
  if (display.type !== "write") return <Arguments name={name} args={args} />;
  return (
    <>
      <p className="path">{inSight(display.path)}</p>
      {problem !== undefined ? (
        <>
          <p className="problem" role="alert">
            It could not be compared with the file, so all of it is shown. {problem}{" "}
            <button type="button" className="quiet small" onClick={() => void compare()}>
              Try again
            </button>
          </p>
          <Diff before="" after={display.content} label={`Changes in ${inSight(display.path)}`} />
        </>
      ) : before === undefined ? (
        <p className="empty">Comparing with the file…</p>
      ) : (
        <Diff before={before ?? ""} after={display.content} label={`Changes in ${inSight(display.path)}`} />
      )}
      {before === null && (
        <p className="note">
          All of the file is shown. If there is one with this name already, it is replaced.
        </p>
      )}
    </>
  );
}

function EditedArguments({
  id,
  args,
  isSending,
  onSave,
  onCancel,
}: {
  id: string;
  args: Record<string, unknown>;
  isSending: boolean;
  onSave: (args: Record<string, unknown>) => void;
  onCancel: () => void;
}) {
  const [texts, setTexts] = useDraft<Record<string, string>>(
    questionDraft(id, "arguments"),
    Object.fromEntries(Object.entries(args).map(([field, value]) => [field, fieldText(value)])),
  );
  const [wrong, setWrong] = useState<string>();
  const save = (): void => {
    const edited: Record<string, unknown> = {};
    for (const [field, text] of Object.entries(texts)) {
      try {
        edited[field] = fieldValue(text, args[field]);
      } catch {
        setWrong(field);
        return;
      }
    }
    onSave(edited);
  };
  return (
    <form
      className="edit-args"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      {Object.entries(texts).map(([field, text]) => (
        <label key={field}>
          {inSight(field)}
          <textarea
            className="mono"
            rows={Math.min(14, text.split("\n").length + 1)}
            value={text}
            onInput={(event) => setTexts({ ...texts, [field]: event.currentTarget.value })}
          />
          {wrong === field && <span className="problem">This is no valid JSON.</span>}
        </label>
      ))}
      <div className="decision row">
        <button type="submit" className="primary" disabled={isSending}>
          Approve with changes
        </button>
        <button type="button" className="quiet" onClick={onCancel}>
          Back
        </button>
      </div>
    </form>
  );
}
