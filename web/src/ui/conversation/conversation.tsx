import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { exportHtml } from "../../../../src/threads/log/html/index.ts";
import { agentOf, costOfThread } from "../../../../src/threads/log/thread.ts";
import { clock, duration, inSight } from "../../../../src/threads/log/words.ts";
import { MAIN } from "../../../../src/threads/view/view.ts";
import { remove } from "../../store/actions.ts";
import { type PageState, shownThread, titleOf } from "../../store/state.ts";
import { Composer } from "../composer/composer.tsx";
import { Failed } from "../failed.tsx";
import { pressed } from "../pressed.ts";
import { Questions } from "../questions/questions.tsx";
import { useNow, usePage, useStore } from "../use-store.ts";
import { Entries } from "./entries.tsx";

/** The conversation, with open questions and the composer always visible below. */
export function Conversation() {
  const page = usePage();
  const { open, loading, past } = page;
  const thread = shownThread(page);
  const { box, isAtEnd, toEnd } = useStickyEnd(thread, open);
  if (open === undefined) return <Blank />;
  return (
    <main className="talk">
      <header className="talk-head">
        <div>
          <h1>{inSight(titleOf(page))}</h1>
          <p className="talk-about">{about(page)}</p>
        </div>
        {loading === "idle" && (
          <div className="talk-actions">
            <Export />
            <Delete key={open} id={open} />
          </div>
        )}
      </header>
      <div className="talk-scroll" ref={box} tabIndex={0} role="group" aria-label="Conversation">
        <div className="talk-inner">
          <Loading loading={loading} isEmpty={thread.entries.length === 0} />
          <div role="log" aria-label="What was said and done" aria-relevant="additions">
            <Entries thread={thread} owner={MAIN} />
          </div>
          <Failed part="thread" />
          {!past && <Thinking />}
          {!past &&
            page.kept.map((text, at) => (
              <div key={`${at} ${text}`} className="task">
                <span className="hidden">You: </span>
                {text}
                <p className="note">The agent has not read this yet.</p>
              </div>
            ))}
        </div>
        {!isAtEnd && thread.questions.length === 0 && (
          <button type="button" className="to-end" onClick={toEnd}>
            Jump to the latest
          </button>
        )}
      </div>
      {!past && <Questions key={open} />}
      <Composer key={open} />
    </main>
  );
}

function about({ thread, settings, listed, past }: PageState): string {
  const { dir } = listed ?? {};
  const time = past && `as it was at ${clock(past.checkpoint.at)}`;
  return [time, thread.view.model || settings.model, dir && inSight(dir)].filter(Boolean).join(" · ");
}

function Blank() {
  return (
    <main className="talk talk-blank">
      <div className="welcome">
        <h1>Give a task</h1>
        <p>
          The agent makes a plan and works through it. You can watch each step, change the plan while it
          works, and decide about what you want to be asked for.
        </p>
      </div>
      <Composer key="new" />
    </main>
  );
}

function Loading({ loading, isEmpty }: { loading: PageState["loading"]; isEmpty: boolean }) {
  switch (loading) {
    case "loading":
      return <p className="empty">Loading the thread…</p>;
    case "missing":
      return <p className="empty">This thread is not here any more. The others are in the list.</p>;
    case "failed":
      return null;
    case "idle":
      return isEmpty ? <p className="empty">Nothing was said yet.</p> : null;
  }
}

/** The wait for a model's answer or for its next attempt. */
function Thinking() {
  const { thread } = usePage();
  const agent = agentOf(thread, MAIN);
  const waiting = thread.isRunning ? agent?.waiting : undefined;
  const now = useNow(waiting !== undefined);
  if (!waiting) return null;
  const { since, retry } = waiting;
  return (
    <p className="thinking">
      {retry
        ? `The model did not answer (${retry.reason}). It is asked again in ${duration(Math.max(0, retry.at - now))}.`
        : `Thinking, ${duration(now - since)}`}
    </p>
  );
}

/** Keeps a growing box scrolled to its end, unless the user has scrolled away from it. */
function useStickyEnd(grows: unknown, open: string | undefined) {
  const box = useRef<HTMLDivElement>(null);
  const [isAtEnd, setAtEnd] = useState(true);
  const toEnd = (): void => {
    const element = box.current;
    if (element) element.scrollTop = element.scrollHeight;
  };
  useEffect(() => {
    const element = box.current;
    setAtEnd(true);
    if (!element) return undefined;
    const onScroll = (): void =>
      setAtEnd(element.scrollHeight - element.scrollTop - element.clientHeight < 80);
    element.addEventListener("scroll", onScroll, { passive: true });
    return () => element.removeEventListener("scroll", onScroll);
  }, [open]);
  useLayoutEffect(() => {
    if (isAtEnd) toEnd();
  }, [grows]);
  return { box, isAtEnd, toEnd };
}

/** A button that deletes the thread at a second press within five seconds. */
function Delete({ id }: { id: string }) {
  const store = useStore();
  const [isSure, setSure] = useState(false);
  useEffect(() => {
    if (!isSure) return undefined;
    const timer = setTimeout(() => setSure(false), 5000);
    return () => clearTimeout(timer);
  }, [isSure]);
  return (
    <button
      type="button"
      className={isSure ? "danger small" : "quiet small"}
      onClick={pressed(() => (isSure ? remove(store, id) : setSure(true)))}
    >
      {isSure ? "Delete permanently" : "Delete"}
      <span className="hidden"> this thread</span>
    </button>
  );
}

/** A button that downloads the thread as one HTML file. */
function Export() {
  const store = useStore();
  return (
    <button type="button" className="quiet small" onClick={() => save(store.state)}>
      Export
    </button>
  );
}

function save(page: PageState): void {
  const { open = "", thread, info } = page;
  const html = exportHtml(titleOf(page), thread, costOfThread(thread, info?.prices));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([html], { type: "text/html" }));
  link.download = `${open.replaceAll(/[^\w.-]+/g, "-")}.html`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
