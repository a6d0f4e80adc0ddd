import { Counter, type Accounting, type Pieces } from "./count.ts";
import { FLOOR, LEAN, SYSTEMS } from "./systems.ts";
import { record } from "./tokens.ts";

/** Where the planning tokens of `lean` go, over a whole run. The parts add up to the planning cost. */
export interface Breakdown {
  size: number;
  accounting: Accounting;
  /** Prompt and tools, in every request. */
  fixed: number;
  /** The call that writes the plan, with its answer, in every request after it. */
  write: number;
  /** The calls that report progress. */
  updateCalls: number;
  /** The status lines that answer them. */
  updateResults: number;
  /** What the model writes. */
  output: number;
  /** One report of progress in the conversation: its call, and its answer. */
  perCall: number;
  perResult: number;
}

/** Splits lean's planning cost (o200k) into its parts. */
export async function breakdownOfLean(size: number, accounting: Accounting): Promise<Breakdown> {
  const counter = new Counter("o200k", accounting);
  const count = (...pieces: Pieces): number => counter.count(pieces);
  const [bare, lean] = await Promise.all([FLOOR, LEAN].map((name) => run(name, size)));
  const floor = bare!.requests.at(-1)!;
  const last = lean!.requests.at(-1)!;
  // A request holds: tools, system, user; then per turn the answer (report + work), the report's and the work's result.
  const HEAD = 3;
  const turns = Array.from({ length: size }, (_, at) => ({
    call: count(last[HEAD + 3 * at]!) - count(floor[HEAD + 2 * at]!),
    result: count(last[HEAD + 3 * at + 1]!),
    // How many later requests carry this turn.
    seen: size - at,
  }));
  // The last item has no report: the final answer completes it.
  const [write, ...updates] = turns;
  const sum = (of: (turn: (typeof turns)[number]) => number): number =>
    updates.reduce((all, turn) => all + of(turn), 0);
  const output = (of: { answers: Pieces[] }): number =>
    of.answers.reduce((all, one) => all + count(...one), 0);
  return {
    size,
    accounting,
    fixed: (count(...lean!.requests[0]!) - count(...bare!.requests[0]!)) * lean!.requests.length,
    write: (write!.call + write!.result) * write!.seen,
    updateCalls: sum(({ call, seen }) => call * seen),
    updateResults: sum(({ result, seen }) => result * seen),
    output: output(lean!) - output(bare!),
    perCall: Math.round(sum(({ call }) => call) / updates.length),
    perResult: Math.round(sum(({ result }) => result) / updates.length),
  };
}

async function run(name: string, size: number): ReturnType<typeof record> {
  return record(
    SYSTEMS.find((system) => system.name === name)!,
    size,
  );
}
