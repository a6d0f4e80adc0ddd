import { startPostgres } from "../../test/helpers/postgres/server.ts";
import { figureLine, number } from "../lines.ts";
import { table } from "../markdown.ts";
import { goalOf, type Section, type SectionGoal, type SectionOptions } from "../section.ts";
import type { ScaleFigures, ScaleSizes } from "./figures.ts";
import { measureOurs } from "./ours.ts";
import { measureDbos, measureSaver } from "./peers.ts";

const FULL: ScaleSizes = {
  takeovers: 5,
  stale: 500,
  probes: 20,
  eventsEach: 500,
  cpuRuns: 100,
  threads: 1000,
};
const QUICK: ScaleSizes = { takeovers: 1, stale: 50, probes: 5, eventsEach: 300, cpuRuns: 20, threads: 20 };

const OURS = "holdfast";
const DBOS = "plain DBOS workflow";
const SAVER = "PostgresSaver";

/** What each figure is, and what it is meant to be. */
const FIGURES: Record<keyof ScaleFigures, { name: string; most?: number }> = {
  killed: { name: "s from kill -9 to the next tool call elsewhere", most: 3 },
  stopped: { name: "s from SIGSTOP to the next tool call elsewhere", most: 3 },
  repeatedByTakeover: { name: "calls repeated by a takeover", most: 1 },
  untold: { name: "repeated calls that were not told so", most: 0 },
  stale: { name: "stale writes accepted", most: 0 },
  idleServer: { name: "transactions a second, idle server" },
  idleWorker: { name: "transactions a second, idle worker" },
  start: { name: "ms from send to start", most: 150 },
  cancel: { name: "ms from cancel to the model call", most: 200 },
  eventDelay: { name: "ms of an event, p95 at 2000 a second", most: 100 },
  eventGaps: { name: "gaps after a reconnect", most: 0 },
  deployRepeats: { name: "calls repeated by a deploy", most: 0 },
  restartLost: { name: "of 50 runs lost by a restart of Postgres", most: 0 },
  crowdSeconds: { name: "s for the crowd" },
  crowdTakeovers: { name: "false takeovers in the crowd", most: 0 },
  crowdRepeats: { name: "repeated calls in the crowd", most: 0 },
  crowdDisorder: { name: "threads out of order in the crowd", most: 0 },
  cpuPerRun: { name: "ms of processor per run, 1 worker" },
  cpuPerRunOfFour: { name: "ms of processor per run, 4 workers" },
};

/** Servers and workers on one database, beside a plain workflow of DBOS and an agent on LangGraph's own saver. */
export async function scaleSection({ quick, seed, progress }: SectionOptions): Promise<Section> {
  const sizes = quick ? QUICK : FULL;
  const server = await startPostgres();
  try {
    const measured = { server, sizes, seed, progress };
    const systems: Record<string, ScaleFigures> = { [OURS]: await measureOurs(measured) };
    systems[DBOS] = await measureDbos(measured);
    systems[SAVER] = await measureSaver(measured);
    return sectionOf(sizes, systems);
  } finally {
    await server.stop();
  }
}

function sectionOf(sizes: ScaleSizes, systems: Record<string, ScaleFigures>): Section {
  const ours = systems[OURS]!;
  const keys = Object.keys(FIGURES) as (keyof ScaleFigures)[];
  const lines = keys.flatMap((key) =>
    Object.entries(systems).flatMap(([system, { [key]: value }]) =>
      value === undefined ? [] : figureLine(["scale", FIGURES[key].name, system], value),
    ),
  );
  return {
    name: "scale",
    lines,
    goals: goalsOf(ours),
    markdown: reportOf(sizes, systems),
    data: { sizes, ...systems },
    plots: [],
  };
}

function goalsOf(ours: ScaleFigures): SectionGoal[] {
  const goals = Object.entries(FIGURES).flatMap(([key, { name, most }]) =>
    most === undefined ? [] : goalOf({ name, value: ours[key as keyof ScaleFigures] ?? NaN, limit: most }),
  );
  const growth = (ours.cpuPerRunOfFour ?? NaN) / (ours.cpuPerRun ?? NaN);
  // 4 workers do 3.2 times as much on free cores where a run takes no more than 1.25 times as long.
  return [...goals, goalOf({ name: "processor per run, 4 workers vs 1", value: growth, limit: 4 / 3.2 })];
}

function reportOf(
  { threads, cpuRuns, stale, eventsEach }: ScaleSizes,
  systems: Record<string, ScaleFigures>,
): string {
  const text = (value: number | undefined): string =>
    value === undefined ? "–" : value === Infinity ? "never" : number(value);
  const rows = (Object.keys(FIGURES) as (keyof ScaleFigures)[]).map((key) => [
    FIGURES[key].name,
    ...Object.values(systems).map((figures) => text(figures[key])),
  ]);
  return [
    "## Many workers on one database\n",
    "- A PostgreSQL started for the benchmark, without flushes to the disk. Servers are in the process of the benchmark, workers in processes of their own, and all on this machine: times are those of its cores, and of what else they do.",
    `- *Stale writes* are counted in ${stale} takeovers by force. *Events* are those of 20 runs with ${eventsEach} each; some have a second reader, who goes in the middle and comes back to another server. The *crowd* is ${threads} threads on 2 workers with 2 runs of 2 tool calls each. Processor time is that of the workers alone, for ${cpuRuns} runs of 5 tool calls per worker, after as many to warm up.`,
    "- *Plain DBOS workflow*: the calls of the model and of the tool are its steps; queue, recovery and streams are as DBOS comes, with 50 at a time. It does not repeat a workflow of a dead process by itself: *never* is 15 s. *PostgresSaver*: LangChain's agent on the official saver, told what to run by its parent; it has neither queue nor lock.\n",
    table(["", ...Object.keys(systems)], rows),
    "",
  ].join("\n");
}
