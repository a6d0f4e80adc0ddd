import { goalText, number } from "../lines.ts";
import { table } from "../markdown.ts";
import type { SectionGoal } from "../section.ts";
import {
  COMPLIANCE,
  FAULT_NAMES,
  FAULTS,
  REPEATS_FOR_EVER,
  STAYS_REPEATING,
  SUMMARY_LOSS,
} from "./faults.ts";
import { bestOf, FIGURE_NAMES, FIGURES, type FigureName, type Row } from "./figures.ts";
import { JUDGED } from "./goals.ts";
import type { Estimate } from "./intervals.ts";
import type { Results } from "./measure.ts";

/** The picture of this section. */
export const PLOT_FILE = "worth.svg";
const DEFAULT = "holdfast lean";

const ASSUMPTIONS = `## Worth

What a plan is worth when the model fails. **This measures the harness, not a language model.** The failures are documented ones; how often they happen is assumed, so read the differences between systems and not the absolute figures.

- A seeded program plays the model. Its answer is a function of the seed and of the request it is shown, messages and tools: it has no memory of its own. What left the window it does not know. Draws are keyed by the situation, so every system meets the same model on the same tasks.
- A task is a list of 4 to 12 steps (fewer more often) in the user's message. About a third wait for an earlier step; one in five takes three work calls, which the model learns by working. The work tool writes to a world outside the agent: a step is *truly done* when its work is over and its dependencies were truly done before. Work before a dependency succeeds and is worth nothing, as the tool does not know better.
- The model follows the dialect of its tools and reports progress beside its next work call, in every system. It does what a refusal or a reminder says ${percent(COMPLIANCE)} of the time, each time anew; after three refusals in a row it lets the plan be. A model whose word was doubted reports item by item. A repetition goes on for another turn ${percent(STAYS_REPEATING)} of the time; ${percent(REPEATS_FOR_EVER)} of them go on until something new is said to the model.
- Half of the tasks run in a small window: LangChain's \`summarizationMiddleware\` at 12 messages, keeping 4, with the same summarizer everywhere. Its summary has the goal, how many steps were done, the last of them, and the open steps in prose, each left out ${percent(SUMMARY_LOSS)} of the time; not the plan, not the dependencies.
- What the user sees is \`todos\` in the state after each step of the graph, plan calls of the same turn included. A work call is shown wrongly when its item is not in progress there.
- *Lost*: vanished from the plan while open, and never done. *Falsely completed*: completed when last shown, and not truly done. *Endless*: 160 graph steps. Tokens are o200k over everything sent and answered, summaries included, divided by the finished tasks.
- Intervals are 95%: Wilson for shares, normal for means, bootstrap over tasks for ratios. Without a plan, figures about a plan mean nothing: n/a.`;

/** The section of RESULTS.md. */
export function report(
  { rows, alone, longer, none }: Results,
  { goals, seed, notes }: { goals: readonly SectionGoal[]; seed: number; notes: readonly string[] },
): string {
  return [
    ASSUMPTIONS,
    `- ${rows[0]!.tasks} tasks per system, seed ${seed}. ${cleanText(none)}`,
    ...notes.map((note) => `- ${note}`),
    "\n### Faults\n",
    faultTable(),
    "\n### All faults together\n",
    `![Tasks with every item truly done, by system](${PLOT_FILE})\n`,
    mainTable(rows),
    ...errorLines(rows),
    "\n### Where Holdfast is not first\n",
    ...worse(rows, goals),
    ...(longer.length > 0
      ? ["\n### Tokens per finished task, by the length of the results\n", LONGER, longerTable(rows, longer)]
      : []),
    ...(alone.length > 0
      ? ["\n### One fault at a time: tasks with every item truly done\n", ALONE, aloneTable(rows, alone)]
      : []),
  ].join("\n");
}

function faultTable(): string {
  return table(
    ["fault", "rate", "per", "the model", "documented in"],
    FAULT_NAMES.map((name) => {
      const { rate, per, does, sources } = FAULTS[name];
      return [name, percent(rate), per, does, sources.join(", ")];
    }),
  );
}

function mainTable(rows: readonly Row[]): string {
  return table(
    ["system", ...FIGURE_NAMES.map((name) => FIGURES[name].title)],
    rows.map(({ system, figures }) => [system, ...FIGURE_NAMES.map((name) => cell(figures[name], name))]),
  );
}

function aloneTable(rows: readonly Row[], alone: Results["alone"]): string {
  const cells = alone.map(({ fault, finished }) => [
    fault === "forgets" ? "forgets, with context-limit" : fault,
    ...rows.map(({ system }) => percent(finished[system]!.value)),
  ]);
  return table(["fault", ...rows.map(({ system }) => system)], cells);
}

function longerTable(rows: readonly Row[], longer: Results["longer"]): string {
  const cells = longer.map(({ resultTokens, tokensPerFinished }) => [
    `${resultTokens} tokens`,
    ...rows.map(({ system }) => number(tokensPerFinished[system]!.value)),
  ]);
  return table(["a result of the work has", ...rows.map(({ system }) => system)], cells);
}

function cell(estimate: Estimate | undefined, figure: FigureName): string {
  if (!estimate) return "n/a";
  const { value, low, high } = estimate;
  const text = SHARES.has(figure) ? percent : number;
  return `${text(value)} (${text(low)}–${text(high)})`;
}

const SHARES: ReadonlySet<FigureName> = new Set(["finished", "misshown", "crashed", "looped"]);

function errorLines(rows: readonly Row[]): string[] {
  const lines = rows.flatMap(({ system, errors }) => errors.map((error) => `- ${system}: ${error}`));
  return lines.length > 0 ? ["\nWhat the crashed runs ended with:\n", ...lines] : [];
}

function cleanText({ tasks, failures }: Results["none"]): string {
  const all = `With all faults off, on ${tasks} tasks,`;
  if (failures.length === 0) return `${all} every system does everything right.`;
  return `${all} these do not do everything right: ${failures.join(", ")}.`;
}

/** Every goal that was missed and every figure in which the default is behind a peer, with the reason. */
function worse(rows: readonly Row[], goals: readonly SectionGoal[]): string[] {
  const own = rows.find(({ system }) => system === DEFAULT)!;
  const peers = rows.filter(({ isOurs }) => !isOurs);
  const behind = JUDGED.flatMap((figure) => {
    const rival = bestOf(peers, figure)!;
    const [mine, theirs] = [own.figures[figure]!.value, rival.figures[figure]!.value];
    const isBehind = FIGURES[figure].better === "more" ? mine < theirs : mine > theirs;
    if (!isBehind) return [];
    const text = SHARES.has(figure) ? percent : number;
    return `- ${DEFAULT}, ${FIGURES[figure].title}: ${text(mine)}, ${rival.system} ${text(theirs)}. ${REASONS[figure] ?? ""}`;
  });
  const missed = goals.filter(({ met }) => !met).map((goal) => `- Missed: ${goal.name}, ${goalText(goal)}.`);
  const lines = [...behind, ...missed];
  const isEndless = rows.some(({ isOurs, looped }) => isOurs && looped > 0);
  return lines.length > 0 ? [...lines, ...(isEndless ? ["", WHY] : [])] : ["Nowhere in these figures."];
}

const LONGER =
  "Fewer tasks than above, the same for all systems. What a plan costs does not grow with the results of the work; what the unfinished tasks of a loop without a plan cost does.\n";

const ALONE =
  "Fewer tasks than above, the same for all systems. The faults work together: a plan that is out of view after a summary is mostly that of a model that batches or works long on one item.\n";

const REASONS: Partial<Record<FigureName, string>> = {
  misshown:
    "A refused report leaves the plan where it was while the model is already at its next work call; a plan without rules follows the model wherever it goes, also where it should not.",
  falselyCompleted:
    "Without `verify` a completion is the model's word, and a model that is called back gets to more of them: the peers' runs that end early leave items open instead.",
  tokensPerFinished:
    "The requests here are small: some 500 tokens without a plan. The plan's prompt and tools add some 400 to each of them, its calls and their results some 150. So a task costs nearly twice as much, and nearly twice as many are finished. It turns with results that are a little longer than these 50 tokens, as the table below shows: the plan costs what it costs, and the bare loop pays for every unfinished task again.",
};

const WHY =
  "A run of ours without end is a model that goes back and forth between work it has done and a report that a rule refuses: no plan call is missing, so no reminder speaks. A limit on model calls ends it, as in every system.";

function percent(part: number): string {
  return `${Number((part * 100).toFixed(1))}%`;
}
