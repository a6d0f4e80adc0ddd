import { TOKENIZERS } from "../count.ts";
import type { Batch, Crew } from "./crew.ts";
import { ALL_FAULTS, FAULT_NAMES, NO_FAULTS, onlyFault, type FaultName, type Faults } from "./faults.ts";
import { rowOf, type Row } from "./figures.ts";
import { ratio, share, type Estimate } from "./intervals.ts";
import type { Outcome } from "./run.ts";
import type { System } from "./systems.ts";
import { detailsWith } from "./world.ts";

/** What is measured. */
export interface MeasureOptions {
  seed: number;
  /** Tasks per system with all faults, with each fault alone, with longer results, and without any fault. */
  tasks: { all: number; alone: number; longer: number; none: number };
  progress: (text: string) => void;
}

/** Everything that is reported. */
export interface Results {
  rows: Row[];
  /** The share of tasks with every item truly done, by fault and system. */
  alone: { fault: FaultName; finished: Record<string, Estimate> }[];
  /** Tokens per finished task, by the length of the results of the work and by system. */
  longer: { resultTokens: number; tokensPerFinished: Record<string, Estimate> }[];
  /** Systems that failed a task without any fault: there should be none. */
  none: { tasks: number; failures: string[] };
}

const BATCH = 25;
/** Lines of a result more than usual: a short command, a short file, a file. */
const MORE_LINES = [0, 5, 30];

/** Runs every system on the same tasks. */
export async function measure(
  systems: readonly System[],
  crew: Crew,
  options: MeasureOptions,
): Promise<Results> {
  const { tasks } = options;
  const run = (text: string, count: number, faults: Faults, moreLines = 0): Promise<Map<System, Outcome[]>> =>
    runTasks(systems, crew, { ...options, count, faults, moreLines, text });
  const all = await run("all faults", tasks.all, ALL_FAULTS);
  const alone: Results["alone"] = [];
  for (const fault of tasks.alone > 0 ? FAULT_NAMES : []) {
    const outcomes = await run(fault, tasks.alone, onlyFault(fault));
    const finished = [...outcomes].map(([{ name }, list]) => [name, finishedShare(list)] as const);
    alone.push({ fault, finished: Object.fromEntries(finished) });
  }
  const longer: Results["longer"] = [];
  for (const moreLines of tasks.longer > 0 ? MORE_LINES : []) {
    const outcomes = await run(`results longer by ${moreLines} lines`, tasks.longer, ALL_FAULTS, moreLines);
    const figures = [...outcomes].map(([{ name }, list]) => [name, tokensPerFinished(list)] as const);
    longer.push({
      resultTokens: TOKENIZERS.o200k(detailsWith(moreLines)),
      tokensPerFinished: Object.fromEntries(figures),
    });
  }
  const clean = await run("no faults", tasks.none, NO_FAULTS);
  const failures = [...clean].filter(([, list]) => !list.every(isRight)).map(([{ name }]) => name);
  return {
    rows: [...all].map(([system, list]) => rowOf(system, list)),
    alone,
    longer,
    none: { tasks: tasks.none, failures },
  };
}

/** Nothing went wrong at all. */
export function isRight({ finished, lost, falselyCompleted, end }: Outcome): boolean {
  return finished && lost === 0 && falselyCompleted === 0 && end === "answered";
}

async function runTasks(
  systems: readonly System[],
  crew: Crew,
  {
    seed,
    count,
    faults,
    moreLines,
    text,
    progress,
  }: Omit<MeasureOptions, "tasks"> & { count: number; faults: Faults; moreLines: number; text: string },
): Promise<Map<System, Outcome[]>> {
  const seeds = Array.from({ length: count }, (_, at) => `${seed}/${at}`);
  const starts = Array.from({ length: Math.ceil(count / BATCH) }, (_, at) => at * BATCH);
  const batches = systems.flatMap(({ name }) =>
    starts.map((start): Batch => ({
      system: name,
      faults,
      moreLines,
      seeds: seeds.slice(start, start + BATCH),
    })),
  );
  const total = count * systems.length;
  let done = 0;
  const results = await crew.run(batches, (batch) => {
    const before = Math.floor((done * 4) / total);
    done += batch.seeds.length;
    if (Math.floor((done * 4) / total) > before) progress(`${text}: ${done} of ${total} runs`);
  });
  return new Map(
    systems.map((system) => [system, results.filter((_, at) => batches[at]!.system === system.name).flat()]),
  );
}

function tokensPerFinished(outcomes: readonly Outcome[]): Estimate {
  return ratio(outcomes.map(({ tokens, finished }) => [tokens, finished ? 1 : 0]));
}

function finishedShare(outcomes: readonly Outcome[]): Estimate {
  return share(outcomes.filter(({ finished }) => finished).length, outcomes.length);
}
