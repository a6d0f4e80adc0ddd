import { parseArgs } from "node:util";
import { goalLine } from "./lines.ts";
import { keepResults } from "./results.ts";
import type { Section, SectionOptions } from "./section.ts";

// Loaded when they are run: each brings its own share of packages.
const SECTIONS: Record<string, (options: SectionOptions) => Promise<Section>> = {
  tokens: async (options) => (await import("./token-section.ts")).tokenSection(options),
  time: async (options) => (await import("./time/index.ts")).timeSection(options),
  crowd: async (options) => (await import("./time/crowd.ts")).crowdSection(options),
  tracing: async (options) => (await import("./time/tracing.ts")).tracingSection(options),
  growth: async (options) => (await import("./growth/index.ts")).growthSection(options),
  coding: async (options) => (await import("./coding/index.ts")).codingSection(options),
  worth: async (options) => (await import("./worth/index.ts")).worthSection(options),
  context: async (options) => (await import("./context/index.ts")).contextSection(options),
  load: async (options) => (await import("./load/index.ts")).loadSection(options),
  session: async (options) => (await import("./session/index.ts")).sessionSection(options),
  command: async (options) => (await import("./command/index.ts")).commandSection(options),
  scale: async (options) => (await import("./scale/index.ts")).scaleSection(options),
};

/** The sections of a quick run: they count, and need neither a quiet machine nor a compiled peer. */
const QUICK = ["tokens", "worth"];

const HELP = `Usage: npm run bench -- [--quick] [--only ${Object.keys(SECTIONS).join("|")}] [--seed n]

Measures Holdfast beside its peers and prints one line per figure: name value ratio-vs-peer.
The full run takes most of an hour and writes bench/RESULTS.md, bench/results.json and the plots.

  --quick   tokens and worth with fewer sizes, systems and repetitions, nothing written; under a minute. With --only any
            section; those that measure time or load take longer
  --only    one section, and only that is written anew: tokens, time (and storage), crowd (of threads), tracing, growth (of a
            thread), coding (a recorded task), worth, context (summaries), load (of a server), session (on a terminal), command
            (its start), or scale (workers)
  --seed n  other draws for the simulated models (default 1)
  --live    the same work by a real model, with and without a plan; see --live --help
  --help    this text

HOLDFAST_BENCH_POSTGRES names the PostgreSQL server to measure (a connection string); else one is started.`;

interface Options {
  quick: boolean;
  help: boolean;
  only?: string;
  seed: number;
}

const args = process.argv.slice(2);
if (args.includes("--live")) process.exitCode = await (await import("./live/index.ts")).live(args);
else await simulate();

async function simulate(): Promise<void> {
  const options = readOptions();
  if (options === undefined) process.exitCode = 2;
  else if (options.help) console.log(HELP);
  else await run(options);
}

async function run({ quick, only, seed }: Options): Promise<void> {
  const start = performance.now();
  const sections: Section[] = [];
  for (const [name, measure] of Object.entries(SECTIONS)) {
    if (only === undefined ? quick && !QUICK.includes(name) : only !== name) continue;
    const progress = (text: string): void => {
      const seconds = ((performance.now() - start) / 1000).toFixed(0);
      console.error(`bench: ${seconds.padStart(4)} s  ${name}: ${text}`);
    };
    const section = await measure({ quick, seed, progress });
    console.log(section.lines.join("\n"));
    sections.push(section);
  }
  // At the end, where they are seen.
  for (const { name, goals } of sections) for (const goal of goals) console.log(goalLine(name, goal));
  if (!quick) keepResults(sections, { seed, order: Object.keys(SECTIONS) });
}

function readOptions(): Options | undefined {
  try {
    const { values } = parseArgs({
      options: {
        quick: { type: "boolean", default: false },
        only: { type: "string" },
        seed: { type: "string", default: "1" },
        help: { type: "boolean", default: false },
      },
    });
    const { only } = values;
    if (only !== undefined && !(only in SECTIONS)) throw new Error(`--only ${only} is no section`);
    const seed = Number(values.seed);
    if (!Number.isSafeInteger(seed) || seed < 0) throw new Error("--seed takes a whole number");
    return { quick: values.quick, help: values.help, seed, ...(only !== undefined && { only }) };
  } catch (error) {
    console.error(`bench: ${(error as Error).message.split(/\.\s|\n/)[0]}; see npm run bench -- --help`);
    return undefined;
  }
}
