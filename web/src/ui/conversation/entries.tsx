import { memo, useState } from "react";
import { PLAN_TOOLS } from "../../../../src/plan/presets/presets.ts";
import type {
  CallEntry,
  EndEntry,
  Entry,
  PlanEntry,
  QuestionEntry,
} from "../../../../src/threads/log/entries.ts";
import type { ThreadState } from "../../../../src/threads/log/thread.ts";
import {
  answerWords,
  changeWords,
  duration,
  failureWord,
  inSight,
} from "../../../../src/threads/log/words.ts";
import { useNow } from "../use-store.ts";
import { HelperCard } from "./helper.tsx";
import { Arguments, Markdown } from "./story-nodes.tsx";

/** Entries to show at first: a long thread would be slow to render. */
const PIECES = 300;

export function Entries({ thread, owner }: { thread: ThreadState; owner: string }) {
  const [most, setMost] = useState(PIECES);
  const all = thread.entries.filter((entry) => entry.owner === owner && isShown(entry, thread));
  const own = all.slice(-most);
  return (
    <>
      {all.length > own.length && (
        <button type="button" className="quiet" onClick={() => setMost(most + PIECES)}>
          Show what was before
        </button>
      )}
      {own.map((entry) =>
        entry.kind === "helper" ? (
          <HelperCard key={entry.key} thread={thread} owner={entry.helper}>
            <Entries thread={thread} owner={entry.helper} />
          </HelperCard>
        ) : entry.kind === "plan" ? (
          <PlanLine key={entry.key} entry={entry} />
        ) : (
          <EntryNode key={entry.key} entry={entry} />
        ),
      )}
    </>
  );
}

function isShown(entry: Entry, { helpers }: ThreadState): boolean {
  if (entry.kind === "question") return entry.answer !== undefined;
  if (entry.kind !== "call") return true;
  if (PLAN_TOOLS.has(entry.name)) return entry.ok === false;
  return entry.name !== "task" || !helpers.has(helperOf(entry, helpers));
}

/** The sub-agent that a call of `task` started. */
function helperOf({ owner, call }: CallEntry, helpers: ThreadState["helpers"]): string {
  return [...helpers.keys()].find((key) => key.startsWith(`${owner}/`) && key.endsWith(`:${call}`)) ?? "";
}

type Plain = Exclude<Entry, { kind: "helper" | "plan" }>;

const EntryNode = memo(({ entry }: { entry: Plain }) => {
  switch (entry.kind) {
    case "task":
      return (
        <div className="task">
          <span className="hidden">You: </span>
          {entry.text}
        </div>
      );
    case "text":
      return (
        <>
          {entry.thoughts && (
            <details className="thoughts">
              <summary>{entry.isOpen && !entry.text ? "Thinking" : "Thoughts"}</summary>
              <p>{inSight(entry.thoughts)}</p>
            </details>
          )}
          {entry.text && <Markdown text={entry.text} />}
        </>
      );
    case "call":
      return <Call entry={entry} />;
    case "question":
      return <Answered entry={entry} />;
    case "notice":
      return <p className="note">{inSight(entry.text)}</p>;
    case "end":
      return <End entry={entry} />;
  }
});

/** A tool call as one line, which expands to all of it. */
function Call({ entry }: { entry: CallEntry }) {
  const { name, about, ok, endedAt, cutAt, isWaiting, isRejected, result, output, exitCode, args } = entry;
  const isRunning = endedAt === undefined && cutAt === undefined && !isWaiting && !isRejected;
  const state = isRunning ? "running" : ok === false && !isRejected ? "failed" : "done";
  return (
    <details className="call">
      <summary>
        <span className="call-name">{inSight(name)}</span>
        <span className="call-about">{inSight(about)}</span>
        <span className={`call-state word-${state}`}>
          <CallState entry={entry} />
        </span>
      </summary>
      <div className="call-body">
        <Arguments name={name} args={args} />
        {exitCode !== undefined && (
          <p className="note">{exitCode === null ? "It was stopped." : `Exit code ${exitCode}.`}</p>
        )}
        {(output ?? result) ? <pre tabIndex={0}>{inSight(output ?? result ?? "")}</pre> : null}
      </div>
    </details>
  );
}

function CallState({ entry }: { entry: CallEntry }) {
  const { at, endedAt, cutAt, isWaiting, isRejected, ok, verdict } = entry;
  const now = useNow(endedAt === undefined && cutAt === undefined && !isWaiting && !isRejected);
  if (isRejected) return <>rejected</>;
  if (endedAt === undefined && cutAt !== undefined) return <>stopped</>;
  if (endedAt === undefined && isWaiting) return <>waits for you</>;
  if (endedAt === undefined) return <>{`running, ${duration(now - at)}`}</>;
  const time = endedAt - at >= 1000 ? duration(endedAt - at) : "";
  const failure = failureWord({ ok: ok === true, verdict });
  if (failure) return <>{time ? `${failure}, ${time}` : failure}</>;
  return <>{time || "done"}</>;
}

function PlanLine({ entry }: { entry: PlanEntry }) {
  const words = changeWords(entry);
  if (!words) return null;
  const who = entry.by === "person" ? "You " : "Plan: ";
  return (
    <p className="note">
      {who}
      {inSight(words)}
    </p>
  );
}

function Answered({ entry: { question, answer } }: { entry: QuestionEntry }) {
  const text = answerWords(answer, { kind: question.kind, name: question.call?.name });
  return (
    <div className="answered">
      {question.kind === "clarification" && <p className="answered-question">{question.text}</p>}
      <p>{inSight(text)}</p>
    </div>
  );
}

const USED_UP: Readonly<Record<NonNullable<EndEntry["reason"]>, string>> = {
  "turn-limit": "Its turns are used up",
  "token-limit": "Its tokens are used up",
  "cost-limit": "Its money is used up",
  "time-limit": "Its time is used up",
};

function End({ entry: { outcome, error, reason } }: { entry: EndEntry }) {
  switch (outcome) {
    case "failed":
      return (
        <div className="failure" role="alert">
          <strong>The run failed.</strong> {inSight(error ?? "")} Finished work is kept; Resume continues it.
        </div>
      );
    case "interrupted":
      return <p className="note">Stopped. Finished work is kept; Resume continues.</p>;
    case "open":
      return (
        <p className="note">
          {reason === undefined ? "The run ended with items left to do" : USED_UP[reason]}; Resume continues.
        </p>
      );
    case "waiting":
    case "done":
      return null;
  }
}
