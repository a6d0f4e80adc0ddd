import { costOf, type Prices } from "../../src/threads/view/prices.ts";
import { mean, pairedDifference, ratio, share, sum, type Estimate } from "../worth/intervals.ts";
import type { RunRecord } from "./results.ts";
import { NO_PLAN } from "./systems.ts";
import { KINDS, type Kind } from "./tasks/task.ts";

/** What one system came to on tasks of one kind. */
export interface KindRow {
  finished: Estimate;
  tokens: Estimate;
  cost?: Estimate;
  modelCalls: Estimate;
  turns: Estimate;
}

/** What one system came to. */
export interface LiveRow {
  system: string;
  runs: number;
  finished: Estimate;
  inputTokens: Estimate;
  cachedTokens: Estimate;
  outputTokens: Estimate;
  modelCalls: Estimate;
  turns: Estimate;
  /** Tokens in and out of all runs, for each that was finished. */
  tokensPerFinished: Estimate;
  cost?: Estimate;
  costPerFinished?: Estimate;
  /** Runs that did not end with an answer. */
  crashed: number;
  outOfCalls: number;
  byKind: Partial<Record<Kind, KindRow>>;
}

/** A system beside no plan, on the runs of the same task and round. */
export interface PairedRow {
  system: string;
  pairs: number;
  /** Finished more than without a plan, as a share of the tasks. */
  finished: Estimate;
  /** Times as much as without a plan. */
  tokens: Estimate;
  modelCalls: Estimate;
  cost?: Estimate;
}

/** Adds the runs of one system up; they must not be none. */
export function rowOf(system: string, runs: readonly RunRecord[], prices: Prices | undefined): LiveRow {
  const costs = prices && runs.map((run) => costOf(run, prices));
  const solved = (list: readonly RunRecord[]): Estimate =>
    share(list.filter((run) => run.solved).length, list.length);
  const perFinished = (of: (run: RunRecord, at: number) => number): Estimate =>
    ratio(runs.map((run, at) => [of(run, at), run.solved ? 1 : 0]));
  const kindRow = (own: readonly RunRecord[]): KindRow => ({
    finished: solved(own),
    tokens: mean(own.map(tokensOf)),
    ...(prices && { cost: mean(own.map((run) => costOf(run, prices))) }),
    modelCalls: mean(own.map(({ modelCalls }) => modelCalls)),
    turns: mean(own.map(({ turns }) => turns)),
  });
  const kinds = KINDS.map((kind) => [kind, runs.filter((run) => run.kind === kind)] as const);
  return {
    system,
    runs: runs.length,
    finished: solved(runs),
    inputTokens: mean(runs.map(({ inputTokens }) => inputTokens)),
    cachedTokens: mean(runs.map(({ cachedTokens }) => cachedTokens)),
    outputTokens: mean(runs.map(({ outputTokens }) => outputTokens)),
    modelCalls: mean(runs.map(({ modelCalls }) => modelCalls)),
    turns: mean(runs.map(({ turns }) => turns)),
    tokensPerFinished: perFinished(tokensOf),
    ...(costs && { cost: mean(costs), costPerFinished: perFinished((_, at) => costs[at]!) }),
    crashed: runs.filter(({ end }) => end === "crashed").length,
    outOfCalls: runs.filter(({ end }) => end === "out-of-calls").length,
    byKind: Object.fromEntries(
      kinds.filter(([, own]) => own.length > 0).map(([kind, own]) => [kind, kindRow(own)]),
    ),
  };
}

/** Compares a system with no plan; undefined where they have no task in common. */
export function pairedRow(
  system: string,
  counted: readonly RunRecord[],
  prices: Prices | undefined,
): PairedRow | undefined {
  const pairs = counted
    .filter((run) => run.system === system)
    .flatMap((run) => {
      const bare = counted.find(
        (other) => other.system === NO_PLAN && other.task === run.task && other.round === run.round,
      );
      return bare ? [[run, bare] as const] : [];
    });
  if (pairs.length === 0) return undefined;
  const times = (of: (run: RunRecord) => number): Estimate =>
    ratio(pairs.map(([run, bare]) => [of(run), of(bare)]));
  /** Pairs in which one alone finished. */
  const only = (withPlan: boolean): number =>
    pairs.filter(([run, bare]) => run.solved === withPlan && bare.solved !== withPlan).length;
  const hasCost = prices && sum(pairs.map(([, bare]) => costOf(bare, prices))) > 0;
  return {
    system,
    pairs: pairs.length,
    finished: pairedDifference(only(true), only(false), pairs.length),
    tokens: times(tokensOf),
    modelCalls: times(({ modelCalls }) => modelCalls),
    ...(hasCost && { cost: times((run) => costOf(run, prices)) }),
  };
}

function tokensOf({ inputTokens, outputTokens }: RunRecord): number {
  return inputTokens + outputTokens;
}
