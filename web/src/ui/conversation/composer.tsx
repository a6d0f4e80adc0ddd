import { useLayoutEffect, useRef, useState } from "react";
import type { Settings } from "../../client/contract.ts";
import { fork, giveTask, resume, stop } from "../../store/actions.ts";
import { statusOf } from "../../store/state.ts";
import { Failed } from "../failed.tsx";
import { useDraft } from "../plan/use-draft.ts";
import { pressed } from "../pressed.ts";
import { useNarrow, usePage, useStore } from "../use-store.ts";
import { TaskOptions } from "./task-options.tsx";

/** Where a task is given, and where the run is stopped, gone on with and forked. */
export function Composer() {
  const store = useStore();
  const page = usePage();
  const { open, past, problem } = page;
  const [text, setText] = useDraft("task", "");
  const [settings, setSettings] = useDraft<Settings>("settings", {});
  const [isSending, setSending] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const isNarrow = useNarrow();
  const status = statusOf(page);
  const isRunning = status === "running";
  const isNew = open === undefined;

  useLayoutEffect(() => {
    if (isNew && !isNarrow) field.current?.focus();
  }, [isNew]);

  const send = async (): Promise<void> => {
    const task = text.trim();
    if (task === "" || isSending) return;
    setSending(true);
    const isTaken = await giveTask(store, task, settings);
    setSending(false);
    // What could not be sent stays where it was typed, and so does what was typed meanwhile.
    if (!isTaken) return;
    if (store.drafts.get(open, "task") === text) store.drafts.forget(open, "task");
    store.drafts.forget(open, "settings");
  };
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <Failed part="info" />
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      <div className="composer-box">
        <label className="hidden" htmlFor="task">
          {isNew ? "Task" : "Next task"}
        </label>
        <textarea
          id="task"
          ref={field}
          rows={isNew ? 3 : 1}
          placeholder={
            isNew ? "What should be done?" : isRunning ? "Add a task for afterwards…" : "Give the next task…"
          }
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            // While composing, Enter chooses among characters.
            if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
            event.preventDefault();
            void send();
          }}
        />
        <div className="composer-row">
          {!isNew && !past && (
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
              <button type="button" className="quiet" onClick={pressed(() => fork(store))}>
                Fork
              </button>
            </>
          )}
          <span className="keys" aria-hidden="true">
            Enter sends · Shift-Enter new line
          </span>
          <button
            type="submit"
            className="primary"
            disabled={text.trim() === "" || isSending || past !== undefined}
          >
            {isNew ? "Start" : isRunning ? "Queue" : "Send"}
          </button>
        </div>
      </div>
      {isNew && <TaskOptions settings={settings} onSettings={setSettings} />}
    </form>
  );
}
