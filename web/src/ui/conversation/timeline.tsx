import { memo, useEffect, useMemo, useRef } from "react";
import { timelineOf, type Bar, type Lane } from "../../../../src/threads/log/timeline/lanes.ts";
import type { TimeScale } from "../../../../src/threads/log/timeline/scale.ts";
import { clock, duration, failureWord, inSight } from "../../../../src/threads/log/words.ts";
import type { Checkpoint } from "../../client/contract.ts";
import { fork, lookAt } from "../../store/actions.ts";
import type { PageState } from "../../store/state.ts";
import { Failed } from "../failed.tsx";
import { pressed } from "../pressed.ts";
import { useNow, usePage, useStore } from "../use-store.ts";

const NOTHING = "Nothing has happened yet. Items, calls and sub-agents appear here as bars.";
const EMPTY: Readonly<Record<PageState["loading"], string>> = {
  idle: NOTHING,
  missing: NOTHING,
  loading: "Loading the time line…",
  failed: "The time line is shown once the thread is there.",
};

/** A run over time: items, calls and sub-agents as bars, and checkpoints to view and fork from. */
export function Timeline({ isOpen, onToggle }: { isOpen: boolean; onToggle: () => void }) {
  const store = useStore();
  const { thread, open, checkpoints, past, loading } = usePage();
  const { spans, isRunning } = thread;
  const now = useNow(isRunning);
  const { lanes, scale, worked } = useMemo(() => timelineOf(spans, now), [spans, now]);

  useEffect(() => {
    if (isOpen && open !== undefined && !checkpoints) void store.loadHistory();
  }, [isOpen, open, checkpoints]);

  if (!isOpen || spans.length === 0) {
    return (
      <section className="timeline" aria-label="Timeline">
        <Head isOpen={isOpen} length="" onToggle={onToggle} />
        {isOpen && <p className="empty">{EMPTY[loading]}</p>}
      </section>
    );
  }
  return (
    <section className="timeline" aria-label="Timeline">
      <Head isOpen length={`${duration(worked)} of work`} onToggle={onToggle} />
      <div className="lanes" tabIndex={0} role="group" aria-label="Bars over time">
        {lanes.map((lane) => (
          <LaneRows key={lane.owner} lane={lane} />
        ))}
        {past && (
          <div className="playhead-track" aria-hidden="true">
            <div className="playhead" style={{ left: percent(scale.place(past.checkpoint.at)) }} />
          </div>
        )}
      </div>
      <Failed part="history" />
      <Failed part="earlier" />
      {checkpoints && checkpoints.length > 0 && <Scrubber checkpoints={checkpoints} scale={scale} />}
    </section>
  );
}

function Head({ isOpen, length, onToggle }: { isOpen: boolean; length: string; onToggle: () => void }) {
  const store = useStore();
  const { past } = usePage();
  return (
    <header className="panel-head">
      <h2>Timeline</h2>
      <span className="count">{length}</span>
      {past && (
        <>
          <span className="past-words">
            You look at {clock(past.checkpoint.at)}, {past.checkpoint.todos.done} of{" "}
            {past.checkpoint.todos.total} done.
          </span>
          <button
            type="button"
            className="small"
            title="Copies the thread up to here; files on the disk stay as they are"
            onClick={pressed(() => fork(store, past.checkpoint.id))}
          >
            Fork from here
          </button>
          <button type="button" className="small" onClick={() => void lookAt(store, undefined)}>
            Back to now
          </button>
        </>
      )}
      <button type="button" className="quiet small push" onClick={onToggle}>
        {isOpen ? "Hide" : "Show"}
      </button>
    </header>
  );
}

const LaneRows = memo(({ lane }: { lane: Lane }) => (
  <div className="lane">
    <p className="lane-name">{inSight(lane.name)}</p>
    <div className="lane-rows">
      {lane.rows.map(({ kind, bars }, index) => (
        <ul key={index} className={`bars bars-${kind}`}>
          {bars.map((bar) => (
            <BarNode key={`${bar.span.id} ${bar.span.from}`} bar={bar} />
          ))}
        </ul>
      ))}
    </div>
  </div>
));

function BarNode({ bar: { span, start, width, took } }: { bar: Bar }) {
  const { kind, label, ok, to } = span;
  const state = to === undefined ? "open" : ok === false ? "failed" : "over";
  const words = [inSight(label), duration(took), failureWord(span), to === undefined && "running"];
  const title = words.filter(Boolean).join(", ");
  return (
    <li
      className={`bar bar-${kind} bar-${state}`}
      style={{ left: percent(start), width: percent(Math.min(width, 1 - start)) }}
      title={title}
    >
      <span aria-hidden="true">{inSight(label)}</span>
      <span className="hidden">{title}</span>
    </li>
  );
}

/** A slider over checkpoints; its end is the present. */
function Scrubber({ checkpoints, scale }: { checkpoints: readonly Checkpoint[]; scale: TimeScale }) {
  const store = useStore();
  const { past, earlier } = usePage();
  const slider = useRef<HTMLInputElement>(null);
  const match = past ? checkpoints.findIndex(({ id }) => id === past.checkpoint.id) : -1;
  const index = match < 0 ? checkpoints.length : match;
  const current = checkpoints[index];
  const places = [...checkpoints.map(({ at }) => scale.place(at)), 1];
  const move = (to: number): void => void lookAt(store, checkpoints[Math.max(0, to)]);
  const loadEarlier = async (): Promise<void> => {
    const { open } = store.state;
    await store.loadEarlier();
    // The button disappears: the slider takes the focus over, unless another element has it.
    const hasNoFocus = document.activeElement === null || document.activeElement === document.body;
    if (hasNoFocus && store.state.open === open && store.state.earlier === "none") slider.current?.focus();
  };
  return (
    <div className="scrubber">
      {earlier !== "none" && (
        <button type="button" className="quiet small" onClick={() => void loadEarlier()}>
          {earlier === "loading" ? "Loading earlier steps…" : "Earlier steps"}
        </button>
      )}
      <div className="ticks" aria-hidden="true">
        {checkpoints.map(({ id }, each) => (
          <i key={id} style={{ left: percent(places[each]!) }} />
        ))}
      </div>
      <input
        ref={slider}
        type="range"
        aria-label="Moment of the run"
        aria-valuetext={
          current
            ? `Step ${index + 1} of ${checkpoints.length}${earlier === "none" ? "" : " shown"}, ${clock(current.at)}, ${current.todos.done} of ${current.todos.total} done`
            : "Now"
        }
        min={0}
        max={1}
        step="any"
        value={places[index]}
        onInput={(event) => move(nearest(places, Number(event.currentTarget.value)))}
        onKeyDown={(event) => {
          const steps: Partial<Record<string, number>> = {
            ArrowLeft: -1,
            ArrowDown: -1,
            ArrowRight: 1,
            ArrowUp: 1,
          };
          const ends: Partial<Record<string, number>> = { Home: 0, End: checkpoints.length };
          const step = steps[event.key];
          const to = step === undefined ? ends[event.key] : Math.min(checkpoints.length, index + step);
          if (to === undefined) return;
          event.preventDefault();
          move(to);
        }}
      />
    </div>
  );
}

function nearest(places: readonly number[], place: number): number {
  const distances = places.map((each) => Math.abs(each - place));
  return distances.indexOf(Math.min(...distances));
}

function percent(share: number): string {
  return `${(share * 100).toFixed(3)}%`;
}
