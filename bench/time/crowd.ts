import { monitorEventLoopDelay } from "node:perf_hooks";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { HumanMessage } from "@langchain/core/messages";
import type { ScriptedModel } from "../../src/testing/index.ts";
import { collectYoung } from "../garbage.ts";
import { figureLine } from "../lines.ts";
import { table } from "../markdown.ts";
import { goalOf, type Section, type SectionGoal, type SectionOptions } from "../section.ts";
import { REQUEST } from "../task.ts";
import type { SaverKind } from "./place.ts";
import { loadProduct, type Product } from "./product.ts";
import { embeddedSavers, NO_SAVER, OURS } from "./savers.ts";
import { longScript } from "./script.ts";
import { ratioOf, spreadOf } from "./statistics.ts";
import { DEEP, PEER_DEEP_PLAN, timedSystems, type TimedSystem } from "./systems.ts";

/**
 * Many threads of one agent at once in one process, each waiting for its model most of the time. They work without a
 * plan: what is measured is the loop.
 */
export interface Crowd {
  system: string;
  saver: string;
  threads: number;
  turns: number;
  /** Turns per second of processor time, a figure per round. */
  perSecond: number[];
  /** How long everything else in the process had to wait, in milliseconds. */
  p99: number;
  longest: number;
  /**
   * The most time between two turns of the event loop, in milliseconds: by the clock or of the processor, whichever is
   * less. Other programs count in the one, and what V8 collects beside the event loop in the other.
   */
  stretch: number;
}

/** How long the models of a crowd take to answer. */
export const LATENCY = 50;
/** Threads of a crowd before each one that is measured: a server's code is compiled. */
const WARM_UP = 100;
/** How often the event loop is looked at, in milliseconds. */
const RESOLUTION = 5;

/** The large ones first: they are measured by their pauses, and what others leave in memory would be collected in them. */
const FULL = [
  { threads: 1000, turns: 5, saver: NO_SAVER, systems: [DEEP], rounds: 1 },
  { threads: 1000, turns: 5, saver: OURS, systems: [DEEP], rounds: 1 },
  { threads: 100, turns: 10, saver: OURS, systems: [DEEP, PEER_DEEP_PLAN], rounds: 7 },
];
const QUICK = [
  { threads: 10, turns: 10, saver: OURS, systems: [DEEP, PEER_DEEP_PLAN], rounds: 1 },
  { threads: 1000, turns: 1, saver: NO_SAVER, systems: [DEEP], rounds: 1 },
];

/** One process in which many threads run at once. */
export async function crowdSection({ quick, progress }: SectionOptions): Promise<Section> {
  const product = await loadProduct();
  const systems = await timedSystems(product);
  const crowds = await measureCrowds({ product, systems, savers: embeddedSavers(product), quick, progress });
  return {
    name: "crowd",
    lines: crowdLines(crowds),
    goals: crowdGoals(crowds),
    markdown: [
      "## Many threads at once in one process\n",
      `- The model takes ${LATENCY} ms to answer, all threads run at once, and each begins in a turn of the event loop of its own; right before, others have done the same. Turns are counted by the second of processor time.`,
      "- Delay: how long a timer had to wait. Stretch: the most time between two turns of the event loop, of the processor or by the clock, whichever is less.\n",
      crowdTable(crowds),
      "",
    ].join("\n"),
    data: crowds,
    plots: [],
  };
}

async function measureCrowds({
  product,
  systems,
  savers,
  quick,
  progress,
}: {
  product: Product;
  systems: readonly TimedSystem[];
  savers: readonly SaverKind[];
  quick: boolean;
  progress: (text: string) => void;
}): Promise<Crowd[]> {
  const crowds: Crowd[] = [];
  for (const { threads, turns, rounds, ...heat } of quick ? QUICK : FULL) {
    const saver = savers.find(({ name }) => name === heat.saver);
    if (!saver) continue;
    const racers = systems.filter(({ name }) => heat.systems.includes(name));
    const found = racers.map(({ name: system }): Crowd => {
      return { system, saver: saver.name, threads, turns, perSecond: [], p99: 0, longest: 0, stretch: 0 };
    });
    const inTurn = racers.map((system, at) => ({ system, crowd: found[at]! }));
    for (let round = 0; round < rounds; round += 1) {
      // Every other round backwards: what changes on the machine meets all of them.
      for (const { system, crowd } of round % 2 === 0 ? inTurn : inTurn.toReversed()) {
        progress(`${threads} threads, ${system.name}, ${saver.name}`);
        const warmUp = { ...crowd, threads: Math.min(threads, WARM_UP), perSecond: [] };
        for (const each of [warmUp, crowd]) await sample({ product, system, saver, crowd: each });
      }
    }
    crowds.push(...found);
  }
  return crowds;
}

async function sample({
  product,
  system,
  saver,
  crowd,
}: {
  product: Product;
  system: TimedSystem;
  saver: SaverKind;
  crowd: Crowd;
}): Promise<void> {
  const { threads, turns } = crowd;
  const script = longScript(turns);
  const model: ScriptedModel = new product.testing.ScriptedModel(
    [
      async ({ messages }) => {
        await sleep(LATENCY);
        // A provider keeps none of them in this process.
        model.requests.length = 0;
        return script[messages.filter(({ type }) => type === "ai").length]!;
      },
    ],
    { loop: true },
  );
  const place = await saver.create();
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION });
  try {
    const agent = system.create(model, await place.open());
    collectYoung();
    const start = process.cpuUsage();
    delay.enable();
    const stretches = new Stretches();
    const runs: Promise<unknown>[] = [];
    for (let thread = 0; thread < threads; thread += 1) {
      const config = { configurable: { thread_id: `t${thread}` }, recursionLimit: 10_000 };
      runs.push(agent.invoke({ messages: [new HumanMessage(REQUEST)] }, config));
      // Requests come one by one.
      await nextTurn();
    }
    await Promise.all(runs);
    delay.disable();
    stretches.stop();
    const { user, system: kernel } = process.cpuUsage(start);
    crowd.perSecond.push((threads * turns * 1e6) / (user + kernel));
    crowd.p99 = Math.max(crowd.p99, waited(delay.percentile(99)));
    crowd.longest = Math.max(crowd.longest, waited(delay.max));
    crowd.stretch = Math.max(crowd.stretch, stretches.longest);
  } finally {
    await place.remove();
  }
}

/** Looks at both clocks whenever the event loop turns, and not more often than that is of use. */
class Stretches {
  longest = 0;
  #cpu = process.cpuUsage();
  #clock = performance.now();
  readonly #timer = setInterval(() => {
    const { user, system } = process.cpuUsage(this.#cpu);
    const least = Math.min((user + system) / 1000, performance.now() - this.#clock);
    [this.#cpu, this.#clock] = [process.cpuUsage(), performance.now()];
    this.longest = Math.max(this.longest, least - RESOLUTION);
  }, RESOLUTION);

  stop(): void {
    clearInterval(this.#timer);
  }
}

/** The histogram has nanoseconds between two looks. */
function waited(nanoseconds: number): number {
  return Math.max(0, nanoseconds / 1e6 - RESOLUTION);
}

function crowdLines(crowds: readonly Crowd[]): string[] {
  return crowds.flatMap((crowd) => {
    const at = [crowd.threads, crowd.saver, crowd.system];
    const peer = peerOf(crowd, crowds);
    return [
      figureLine(
        ["turns-per-cpu-second", ...at],
        spreadOf(crowd.perSecond).median,
        peer && spreadOf(peer.perSecond).median,
      ),
      figureLine(["event-loop-delay-p99-ms", ...at], crowd.p99, peer?.p99),
      figureLine(["event-loop-delay-max-ms", ...at], crowd.longest, peer?.longest),
      figureLine(["longest-stretch-cpu-ms", ...at], crowd.stretch, peer?.stretch),
    ];
  });
}

/** Small crowds say nothing. */
function crowdGoals(crowds: readonly Crowd[]): SectionGoal[] {
  const own = crowds.filter(({ system }) => system === DEEP);
  return [
    ...own.flatMap((crowd): SectionGoal[] => {
      const peer = peerOf(crowd, crowds);
      if (!peer || crowd.threads < 100) return [];
      const name = `turns per second of createDeepAgent vs deepagents with todoListMiddleware, ${sizeOf(crowd)}`;
      const value = ratioOf(crowd.perSecond, peer.perSecond);
      return [goalOf({ name, value, limit: 1.6, bound: "at least" })];
    }),
    ...own.flatMap((crowd): SectionGoal[] => {
      if (crowd.threads < 1000) return [];
      return [
        goalOf({
          name: `event-loop delay p99 of createDeepAgent in ms, ${sizeOf(crowd)}`,
          value: crowd.p99,
          limit: 100,
        }),
        goalOf({
          name: `longest synchronous stretch of createDeepAgent in ms, ${sizeOf(crowd)}`,
          value: crowd.stretch,
          limit: 50,
        }),
      ];
    }),
  ];
}

function sizeOf({ threads, saver }: Crowd): string {
  return `${threads} threads, ${saver}`;
}

function crowdTable(crowds: readonly Crowd[]): string {
  return table(
    [
      "threads",
      "saver",
      "system",
      "turns per second",
      "event-loop delay p99, ms",
      "longest, ms",
      "longest stretch, ms",
    ],
    crowds.map(({ threads, saver, system, perSecond, p99, longest, stretch }) => [
      String(threads),
      saver,
      system,
      spreadOf(perSecond).median.toFixed(0),
      p99.toFixed(0),
      longest.toFixed(0),
      stretch.toFixed(0),
    ]),
  );
}

function peerOf({ system, saver, threads }: Crowd, crowds: readonly Crowd[]): Crowd | undefined {
  return crowds.find(
    (other) =>
      other.system === PEER_DEEP_PLAN &&
      other.saver === saver &&
      other.threads === threads &&
      system === DEEP,
  );
}
