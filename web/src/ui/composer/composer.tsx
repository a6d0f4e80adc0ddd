import { useLayoutEffect, useMemo, useRef, useState } from "react";
import type { SentAnswer, SentTask, Settings } from "../../client/contract.ts";
import { answersWith, messageEffect, type MessageEffect, ofQuestions } from "../../model/message-effect.ts";
import { answer, fork, giveTask, resume, say, stop, undo } from "../../store/actions.ts";
import { DECISIONS } from "../../store/drafts.ts";
import { statusOf } from "../../store/state.ts";
import { Failed, Problem } from "../failed.tsx";
import { useDraft } from "../plan/use-draft.ts";
import { pressed } from "../pressed.ts";
import { useNarrow, usePage, useStore } from "../use-store.ts";
import { ImageButton, Images, imagesIn, type NamedImage } from "./images.tsx";
import { TaskOptions } from "./task-options.tsx";
import { ThreadOptions } from "./thread-options.tsx";

const MOST_IMAGES = 8;
/** Enter does nothing for this long after its effect has changed. */
const SETTLED_MS = 500;

/** The words of the field by what a message does. While questions are open, the label is visible too. */
const EFFECT_WORDS: Record<
  Exclude<MessageEffect["type"], "task">,
  Record<"label" | "hint" | "send", string>
> = {
  answer: { label: "Your answer to the question", hint: "Answer the question…", send: "Send answer" },
  reject: {
    label: "Reject, and tell the agent why",
    hint: "Reject, and say what to do instead…",
    send: "Send rejection",
  },
  none: {
    label: "Decide on the questions above first",
    hint: "Decide on the questions above first…",
    send: "Send",
  },
};

/** The form for tasks and messages, with buttons that stop, resume, undo and fork. */
export function Composer() {
  const store = useStore();
  const page = usePage();
  const { open, past, problem, notes = [], info } = page;
  const [text, setText] = useDraft("task", "");
  const [settings, setSettings] = useDraft<Settings>("settings", {});
  const [images, setImages] = useDraft<readonly NamedImage[]>("images", []);
  const [isCompact, setCompact] = useDraft("compact", false);
  const [isSending, setSending] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const isNarrow = useNarrow();
  const status = statusOf(page);
  const isRunning = status === "running";
  const isNew = open === undefined;
  const [drafted] = useDraft<Readonly<Record<string, SentAnswer>>>(DECISIONS, {});
  const { questions, entries } = page.thread;
  // Everything was taken back.
  const isEmptied = page.loading === "idle" && !page.thread.isRunning && !isRunning && entries.length === 0;
  const decided = ofQuestions(drafted, questions);
  const effect = isRunning ? ({ type: "task" } as const) : messageEffect(questions, decided);
  const effectKey = JSON.stringify(effect);
  const wasTyping = useMemo(() => text.trim() !== "", [open, effectKey]);
  // The card of a question in words has a field of its own. No one loses the field that they are typing in.
  const isInCard = effect.type === "answer" && !wasTyping;
  const words = effect.type === "task" ? undefined : EFFECT_WORDS[effect.type];

  const isSettled = useSettled(open, effectKey);

  useLayoutEffect(() => {
    if (isNew && !isNarrow) field.current?.focus();
  }, [isNew]);

  const send = async ({ isQueued = !isRunning } = {}): Promise<void> => {
    const message = text.trim();
    if (message === "" || isSending || isInCard || effect.type === "none") return;
    setSending(true);
    store.set({ notes: undefined });
    if (effect.type !== "task") {
      const result = await answer(store, answersWith(message, effect, decided));
      setSending(false);
      store.set({ problem: result.type === "taken" ? undefined : result.text });
      if (result.type !== "taken") return;
      store.drafts.forget(open, DECISIONS);
      if (store.drafts.get(open, "task") === text) store.drafts.forget(open, "task");
      return;
    }
    const task: SentTask = {
      task: message,
      images: images.length > 0 ? images.map(({ type, data }) => ({ type, data })) : undefined,
      compact: isCompact || undefined,
    };
    const isAccepted = await (isQueued ? giveTask(store, task, settings) : say(store, task));
    setSending(false);
    // Rejected text stays in the field, and so does text typed meanwhile.
    if (!isAccepted) return;
    if (store.drafts.get(open, "task") === text) store.drafts.forget(open, "task");
    for (const name of ["settings", "images", "compact"]) store.drafts.forget(open, name);
  };
  if (page.listed?.isForeign)
    return (
      <p className="composer note">Another program made this thread. Only that program can continue it.</p>
    );
  const attach = (added: readonly NamedImage[]): void =>
    setImages((now) => [...now, ...added].slice(0, MOST_IMAGES));
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <Failed part="info" />
      <Problem text={problem} />
      {notes.length > 0 && (
        <div role="status">
          <ul className="notes">
            {notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        </div>
      )}
      <div
        className={isInCard ? "composer-box no-field" : "composer-box"}
        id={isInCard ? "task" : undefined}
        tabIndex={isInCard ? -1 : undefined}
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault();
          void imagesIn(event.dataTransfer?.files).then(attach);
        }}
      >
        <Images
          images={images}
          onRemove={(image) => setImages((now) => now.filter((one) => one !== image))}
        />
        {!isInCard && (
          <>
            <label className={words ? "composer-effect" : "hidden"} htmlFor="task">
              {words?.label ?? (isNew ? "Task" : "Next task")}
            </label>
            <textarea
              id="task"
              ref={field}
              rows={isNew ? 3 : 1}
              placeholder={
                words?.hint ??
                (isNew
                  ? "What should be done?"
                  : isRunning
                    ? "Message the working agent…"
                    : "Give the next task…")
              }
              value={text}
              onInput={(event) => setText(event.currentTarget.value)}
              onPaste={(event) => void imagesIn(event.clipboardData?.files).then(attach)}
              onKeyDown={(event) => {
                // During input by an input method, Enter selects a candidate.
                if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
                event.preventDefault();
                if (isSettled()) void send();
              }}
            />
          </>
        )}
        <div className="composer-row">
          {!isNew && !past && !isEmptied && (
            <>
              {isRunning && (
                <button type="button" onClick={() => void stop(store)}>
                  Stop
                </button>
              )}
              {(status === "stopped" || status === "failed") && (
                <button type="button" onClick={pressed(() => resume(store))}>
                  Resume
                </button>
              )}
              {!isRunning && (
                <button
                  type="button"
                  className="quiet"
                  title="Takes back the last message and the files that the agent wrote"
                  onClick={pressed(() => undo(store))}
                >
                  Undo
                </button>
              )}
              <button
                type="button"
                className="quiet"
                title="Copies the thread; files stay as they are"
                onClick={pressed(() => fork(store))}
              >
                Fork
              </button>
            </>
          )}
          {effect.type === "task" && <ImageButton onImages={attach} />}
          {!isInCard && (
            <span className="keys" aria-hidden="true">
              Enter sends · Shift-Enter new line
            </span>
          )}
          {isRunning && (
            <button
              type="button"
              title="Begins when the agent has finished"
              disabled={text.trim() === "" || isSending}
              onClick={pressed(() => send({ isQueued: true }))}
            >
              Queue
            </button>
          )}
          {!isInCard && (
            <button
              type="submit"
              className="primary"
              disabled={text.trim() === "" || isSending || past !== undefined || effect.type === "none"}
            >
              {words?.send ?? (isNew ? "Start" : "Send")}
            </button>
          )}
        </div>
      </div>
      {isNew && <TaskOptions settings={settings} onSettings={setSettings} />}
      {!isNew && !isRunning && !past && info?.defaults && (
        <ThreadOptions isCompact={isCompact} onCompact={setCompact} />
      )}
    </form>
  );
}

/** Whether the effect of a message in a thread is the same as half a second ago, when the user may have typed it. */
function useSettled(thread: string | undefined, effect: string): () => boolean {
  const last = useRef({ thread, effect, at: -Infinity });
  useLayoutEffect(() => {
    const isSame = last.current.thread === thread && last.current.effect === effect;
    if (isSame) return;
    last.current = { thread, effect, at: last.current.thread === thread ? performance.now() : -Infinity };
  }, [thread, effect]);
  return () => performance.now() - last.current.at > SETTLED_MS;
}
