import { figureLine, number } from "../lines.ts";
import { table } from "../markdown.ts";
import { goalOf, type Section, type SectionGoal, type SectionOptions } from "../section.ts";
import { ratioOf, spreadOf } from "../time/statistics.ts";
import { measureAlone, type AloneFigures } from "./alone.ts";
import { measureLoad, type LoadFigures, type LoadSizes } from "./measure.ts";
import { OURS, PEER, startOurs, startPeer, type LoadedServer } from "./servers.ts";

const FULL: LoadSizes = {
  warmUp: 1000,
  idle: 1200,
  batches: 6,
  running: 100,
  events: 20,
  runningEvents: 200,
};
const QUICK: LoadSizes = { warmUp: 20, idle: 40, batches: 2, running: 10, events: 20, runningEvents: 40 };

const KB = 1024;
const ALONE = "the graph alone";

/** The figures by name, from a server's. */
const FIGURES: Record<string, (figures: LoadFigures) => number> = {
  "runs per second": ({ runsPerSecond }) => spreadOf(runsPerSecond).median,
  "processor ms per run": ({ cpuPerRun }) => cpuPerRun,
  "ms to the first event, alone": ({ firstEventAlone }) => firstEventAlone,
  "ms to the first event, among others": ({ firstEvent }) => firstEvent,
  "events per second": ({ eventsPerSecond }) => spreadOf(eventsPerSecond).median,
  "kB per idle thread": ({ idleThread }) => idleThread / KB,
  "kB of rss per idle thread": ({ idleThreadRss }) => idleThreadRss / KB,
  "kB per running thread": ({ runningThread }) => runningThread / KB,
  "kB of rss per running thread": ({ runningThreadRss }) => runningThreadRss / KB,
  "MB of the process": ({ rss }) => rss / KB / KB,
};

/** One process that serves many threads, beside LangGraph's own server on the same graph. */
export async function loadSection({ quick, progress }: SectionOptions): Promise<Section> {
  const sizes = quick ? QUICK : FULL;
  const servers: LoadedServer[] = [];
  try {
    progress("starting the servers");
    servers.push(await startOurs());
    // It takes longer to start than a quick run may take.
    if (!quick) servers.push(await startPeer(sizes.running * 2));
    const [ours, peer] = await measureLoad(servers, sizes, progress);
    progress("the graph without a server");
    return sectionOf(sizes, { ours: ours!, peer, alone: measureAlone(sizes) });
  } finally {
    for (const server of servers) server.stop();
  }
}

interface Measured {
  ours: LoadFigures;
  peer: LoadFigures | undefined;
  alone: AloneFigures;
}

function sectionOf(sizes: LoadSizes, measured: Measured): Section {
  const { ours, peer, alone } = measured;
  return {
    name: "load",
    lines: [
      ...Object.entries(FIGURES).flatMap(([name, of]) => [
        figureLine(["load", name, OURS], of(ours), peer && of(peer)),
        ...(peer ? [figureLine(["load", name, PEER], of(peer))] : []),
      ]),
      figureLine(["load", "processor ms per run", ALONE], alone.cpuPerRun, peer?.cpuPerRun),
      figureLine(
        ["load", "runs per second", ALONE],
        alone.runsPerSecond,
        peer && spreadOf(peer.runsPerSecond).median,
      ),
    ],
    goals: peer ? goalsOf(ours, peer) : [],
    markdown: reportOf(sizes, measured),
    data: { sizes, [OURS]: ours, ...(peer && { [PEER]: peer }), [ALONE]: alone },
    plots: [],
  };
}

function goalsOf(ours: LoadFigures, peer: LoadFigures): SectionGoal[] {
  return [
    goalOf({
      name: "runs per second vs langgraphjs dev",
      value: ratioOf(ours.runsPerSecond, peer.runsPerSecond),
      limit: 3,
      bound: "at least",
    }),
    goalOf({
      name: "memory per idle thread vs langgraphjs dev",
      value: memoryRatio(ours.idleThread, peer.idleThread),
      limit: 1 / 3,
    }),
    goalOf({
      name: "memory per running thread vs langgraphjs dev",
      value: memoryRatio(ours.runningThread, peer.runningThread),
      limit: 1 / 3,
    }),
  ];
}

/** Where the peer gave memory back meanwhile, nothing was measured, and no goal is met by it. */
function memoryRatio(own: number, peer: number): number {
  return peer > 0 ? own / peer : Infinity;
}

function reportOf(sizes: LoadSizes, { ours, peer, alone }: Measured): string {
  const rows = Object.entries(FIGURES).map(([name, of]) => [
    name,
    number(of(ours)),
    ...(peer ? [number(of(peer)), number(of(ours) / of(peer))] : []),
  ]);
  return [
    "## Many threads on one server\n",
    `- \`createServer\` on a SQLite file${peer ? `, and \`${PEER}\`, which keeps threads in memory and is let work on ${sizes.running * 2} runs at a time` : `; \`${PEER}\` is left out of a quick run`}: a process each, on the same graph of two nodes, one after the other in each step, and the other one is halted meanwhile.`,
    `- *Idle* threads are ${sizes.idle} that have had a run of ${sizes.events} events, ${sizes.running} at a time, on a server that has ${sizes.warmUp} from its warm-up; runs per second are of all but the first ${Math.round(sizes.idle / sizes.batches)}. *Running* ones are ${sizes.running} that wait in the middle of ${sizes.runningEvents} events, and then go on all at once, which is what events per second are of.`,
    "- Memory is what a process has in use after a collection of garbage, as it says itself (its heap, and what is outside of it and belongs to it): the least of several looks, and what there is more of it, by the number of threads. Beside it stands what there is more of rss, which is no measure of a thread: the warm-up leaves a process with pages that it fills again before it asks for more, and gives back when it likes. SQLite's own cache is only in rss, and at most 2 MB. Processor time is the server's alone; runs per second are also the client's, which is in another process.",
    "- Every run is read to its end, and every event must be there, in order: the benchmark fails otherwise.",
    `- The same graph alone, on a file of the same kind and without any server, takes ${number(alone.cpuPerRun)} ms of the processor for a run, and makes ${number(alone.runsPerSecond)} of them in a second${peer ? `, ${number(alone.runsPerSecond / spreadOf(peer.runsPerSecond).median)} times as many as \`${PEER}\` with its server` : ""}: what is left for a server to take is the difference.\n`,
    table(["", OURS, ...(peer ? [PEER, "ratio"] : [])], rows),
    "",
  ].join("\n");
}
