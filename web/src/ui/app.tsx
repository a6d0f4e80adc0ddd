import { type ReactNode, useEffect, useState } from "react";
import { flushSync } from "react-dom";
import { planOf } from "../../../src/threads/log/thread.ts";
import { type PlanDraft, startDraft } from "../model/plan-draft.ts";
import { PLAN_DRAFT } from "../store/drafts.ts";
import { statusOf } from "../store/state.ts";
import { Conversation } from "./conversation/conversation.tsx";
import { Files } from "./conversation/files.tsx";
import { Timeline } from "./conversation/timeline.tsx";
import { Plan } from "./plan/plan.tsx";
import { useDraft } from "./plan/use-draft.ts";
import { StatusLine } from "./status-line.tsx";
import { Threads } from "./threads/threads.tsx";
import { useNarrow, usePage } from "./use-store.ts";

/** The whole page: threads, conversation, plan, files, timeline and status line. */
export function App() {
  const page = usePage();
  const isNarrow = useNarrow();
  const [region, setRegion] = useState<RegionName>("talk");
  const [draft, setDraft] = useDraft<PlanDraft | undefined>(PLAN_DRAFT, undefined);
  const [hasTimeline, setTimeline] = useState(() => localStorage.getItem("holdfast-timeline") === "open");
  const { open } = page;

  useEffect(() => setRegion("talk"), [open]);

  useEffect(() => localStorage.setItem("holdfast-timeline", hasTimeline ? "open" : "closed"), [hasTimeline]);

  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (event.key === "/") {
        event.preventDefault();
        // The region may have to be rendered first.
        flushSync(() => setRegion("talk"));
        document.querySelector<HTMLElement>("#task")?.focus();
      }
      const todos = planOf(page.thread);
      if (
        event.key === "e" &&
        open !== undefined &&
        todos.length > 0 &&
        !page.past &&
        !page.listed?.isForeign
      ) {
        event.preventDefault();
        setRegion("plan");
        if (!draft) setDraft(startDraft(todos));
      }
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [open, page, draft]);

  if (!page.hasToken || page.connection === "refused") return <Unreachable isKnown={page.hasToken} />;
  const isShown = (name: RegionName): boolean => !isNarrow || region === name;
  const hasThread = open !== undefined && page.loading !== "missing";
  return (
    <div className={`page ${hasThread ? "" : "page-blank"}`}>
      {!isNarrow && (
        <a className="skip" href="#task" onClick={toTask}>
          Go to the task
        </a>
      )}
      {isShown("threads") && (
        <Region isMain={isNarrow} className="threads-region" name="Threads">
          <Threads />
        </Region>
      )}
      {isShown("talk") && <Conversation />}
      {(hasThread || isNarrow) && (isShown("plan") || isShown("files")) && (
        <Region isMain={isNarrow} className="side" name={region === "plan" ? "The plan" : "The files"}>
          {hasThread && isShown("plan") && <Plan />}
          {hasThread && isShown("files") && <Files />}
          {!hasThread && (
            <p className="empty">
              Open a thread, and its {region === "plan" ? "plan is" : "files are"} here.
            </p>
          )}
        </Region>
      )}
      {hasThread && (hasTimeline || isNarrow) && isShown("plan") && (
        <Timeline isOpen={hasTimeline} onToggle={() => setTimeline(!hasTimeline)} />
      )}
      <StatusLine hasTimeline={hasTimeline} onTimeline={() => setTimeline(!hasTimeline)} />
      {isNarrow && (
        <Tabs region={region} onRegion={setRegion} asks={statusOf(page) === "waiting" && region !== "talk"} />
      )}
    </div>
  );
}

/** Focuses the composer without following the link, as the URL's hash names the thread. */
function toTask(event: { preventDefault: () => void }): void {
  event.preventDefault();
  document.querySelector<HTMLElement>("#task")?.focus();
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

/** A region of the page; the only one on a narrow page is its main region, with a heading. */
function Region({
  isMain,
  className,
  name,
  children,
}: {
  isMain: boolean;
  className: string;
  name: string;
  children: ReactNode;
}) {
  // The same element in both cases: another one would lose unsent input when the window is resized.
  return (
    <div className={className} role={isMain ? "main" : undefined} tabIndex={isMain ? 0 : undefined}>
      {isMain && <h1 className="hidden">{name}</h1>}
      {children}
    </div>
  );
}

/** The page without a valid token. */
function Unreachable({ isKnown }: { isKnown: boolean }) {
  return (
    <main className="unreachable">
      <h1>{isKnown ? "The key is not valid any more" : "This page needs its key"}</h1>
      <p>
        {isKnown
          ? "This link has expired. Open the latest link that the server printed. Your threads are safe."
          : "The key is at the end of the address that the server printed when it started."}
      </p>
      <p>
        Open the whole address that <code>holdfast serve</code> printed, with everything after the #.
      </p>
    </main>
  );
}

type RegionName = "threads" | "talk" | "plan" | "files";

const NAMES: Readonly<Record<RegionName, string>> = {
  threads: "Threads",
  talk: "Talk",
  plan: "Plan",
  files: "Files",
};

/** The regions of a narrow page, one at a time. */
function Tabs({
  region,
  onRegion,
  asks,
}: {
  region: RegionName;
  onRegion: (region: RegionName) => void;
  /** Whether a question waits in the conversation, which is not shown. */
  asks: boolean;
}) {
  return (
    <nav className="tabs" aria-label="Parts of the page">
      {(Object.keys(NAMES) as RegionName[]).map((name) => (
        <button
          key={name}
          type="button"
          aria-current={region === name ? "page" : undefined}
          onClick={() => onRegion(name)}
        >
          {NAMES[name]}
          {name === "talk" && asks && <span className="badge">asks</span>}
        </button>
      ))}
    </nav>
  );
}
