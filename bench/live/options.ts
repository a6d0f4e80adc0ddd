import { parseArgs } from "node:util";
import { HarnessError } from "../../src/errors.ts";
import { readPrices, type Prices } from "../../src/threads/view/prices.ts";
import { LIVE_TASKS } from "./tasks/index.ts";

/** What the user wants. */
export interface LiveOptions {
  model: string;
  tasks: number;
  rounds: number;
  seed: number;
  parallel: number;
  retries: number;
  /** Dollars that this start may spend. */
  budget?: number;
  prices?: Prices;
  out?: string;
  yes: boolean;
  sandbox: boolean;
}

export const LIVE_HELP = `Usage: npm run bench -- --live --model provider:name [options]

The same work by a real model, without a plan and with four ways to plan: LangChain's todoListMiddleware, and
Holdfast's classic, lean and inline. Says what it will cost and asks first. What is done is kept: the same command goes
on where it was stopped.

  --model provider:name   such as anthropic:claude-sonnet-5; its key as for holdfast (see the README)
  --tasks n               how many of the ${LIVE_TASKS.length} tasks (default all); more can be added later
  --rounds n              how often each, with other data every time (default 1)
  --budget dollars        stop when this start has spent so much; needs prices
  --prices in,out[,cached[,written]]
                          dollars per million tokens, such as 3,15,0.3,3.75: written is input that goes into the
                          provider's cache (default HOLDFAST_PRICES)
  --parallel n            runs at a time (default 2)
  --retries n             how often a failed model call is tried again (default 4)
  --seed n                other data and another order (default 1)
  --out folder            where the results go (default bench/live-results/MODEL, which git ignores)
  --yes                   do not ask
  --no-sandbox            run the model's commands without bubblewrap: only where the whole machine is a sandbox
  --help                  this text`;

/** Reads the options; `undefined` when help is wanted. Throws a `HarnessError`. */
export function readLiveOptions(args: readonly string[], env: NodeJS.ProcessEnv): LiveOptions | undefined {
  const { values } = parse(args);
  if (values.help) return undefined;
  const whole = (
    name: "tasks" | "rounds" | "seed" | "parallel" | "retries",
    otherwise: number,
    least: number,
  ): number => {
    const value = values[name] === undefined ? otherwise : Number(values[name]);
    if (Number.isSafeInteger(value) && value >= least) return value;
    throw invalid(`--${name} takes a whole number from ${least} on`);
  };
  if (values.model === undefined) throw invalid("--live needs --model provider:name");
  const prices = readPrices(values.prices ?? env["HOLDFAST_PRICES"]);
  const budget = values.budget === undefined ? undefined : Number(values.budget);
  if (budget !== undefined && !(budget > 0)) throw invalid("--budget takes dollars, such as 5");
  if (budget !== undefined && !prices)
    throw invalid("--budget needs --prices (or HOLDFAST_PRICES), such as 3,15,0.3");
  const tasks = whole("tasks", LIVE_TASKS.length, 1);
  if (tasks > LIVE_TASKS.length)
    throw invalid(`there are ${LIVE_TASKS.length} tasks; for more runs use --rounds`);
  return {
    model: values.model,
    tasks,
    rounds: whole("rounds", 1, 1),
    seed: whole("seed", 1, 0),
    parallel: whole("parallel", 2, 1),
    retries: whole("retries", 4, 0),
    yes: values.yes,
    sandbox: !values["no-sandbox"],
    ...(budget !== undefined && { budget }),
    ...(prices && { prices }),
    ...(values.out !== undefined && { out: values.out }),
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        live: { type: "boolean" },
        model: { type: "string" },
        tasks: { type: "string" },
        rounds: { type: "string" },
        budget: { type: "string" },
        prices: { type: "string" },
        parallel: { type: "string" },
        retries: { type: "string" },
        seed: { type: "string" },
        out: { type: "string" },
        yes: { type: "boolean", default: false },
        "no-sandbox": { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    });
  } catch (error) {
    throw invalid((error as Error).message.split(/\.\s|\n/)[0]!);
  }
}

function invalid(message: string): HarnessError {
  return new HarnessError("invalid-options", `${message}; see npm run bench -- --live --help`);
}
