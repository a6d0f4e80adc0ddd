import { cpus, loadavg } from "node:os";
import { number } from "../lines.ts";
import { table } from "../markdown.ts";
import { FLOOR } from "../systems.ts";
import { cellAt, loadAt, timeRatio } from "./cells.ts";
import type { TimeFigures } from "./figures.ts";
import type { Cell } from "./race.ts";
import { NO_SAVER } from "./savers.ts";
import { TURNS } from "./script.ts";
import { spreadOf, type Spread } from "./statistics.ts";
import { EMPTY, PEER_DEEP_PLAN } from "./systems.ts";

const ASSUMPTIONS = `## Time and storage

- One work call per turn with a result of 1 kB, and a plan of 20 items: at 25 turns most turns carry a plan call, at 400 every twentieth does. Time is that of the whole run over its turns of work, so the extra turns of *own-turn* count.
- Time is processor time of this process, so that other work on the machine does not count; what a database server takes is not in it. The model answers at once. What is left is the harness: next to a real model's seconds all of it is small.
- All systems run in one process, by turns, every other round backwards; each has had a run of up to 50 turns right before, so that its code is compiled, and its young garbage is collected. Tables show the median and, in brackets, the quartiles; ratios are medians of the ratios of runs that stood beside each other. Long runs are repeated less often, the longest once.
- *light loop* is \`lightLoop(agent)\`, which our own agents have built in.
- *createDeepAgent* and *deepagents* are as they come, with the work tool added. *loop without LangGraph* calls model and tool by hand and keeps nothing.
- Load: \`getState\` of the finished thread with a saver that was just opened. After every run the loaded messages are compared with those of the run. That no finished call is repeated after a kill is tested in \`src/storage/kill.test.ts\`.
- Bytes: the file after closing it (SQLite), or the tables with their indexes (Postgres).
- Import: a fresh process per sample, memory after a garbage collection, beyond what Node itself takes.`;

/** The section of RESULTS.md. */
export function timeReport({ cells, supersteps, startUp, notes }: TimeFigures): string {
  const savers = [...new Set(cells.map(({ saver }) => saver))];
  const processor = cpus()[0]?.model.trim() ?? "unknown processor";
  return [
    ASSUMPTIONS,
    `- This run: ${cpus().length} cores (${processor}), Node ${process.versions.node}; load average ${number(loadavg()[2]!)} over the last 15 minutes, of which this process makes about 1. The higher it is, the less the times mean; supersteps and bytes do not depend on it.`,
    ...notes.map((note) => `- ${note}`),
    "\n![Time per turn](time.svg)",
    ...savers.flatMap((saver) => [
      `\n### Milliseconds per turn, ${saver}\n`,
      timeTable(cells.filter((cell) => cell.saver === saver)),
    ]),
    "\n### Supersteps of the graph per model turn\n",
    table(
      ["system", "supersteps"],
      supersteps.map(({ system, perTurn }) => [system, number(perTurn)]),
    ),
    "\n![Bytes by turns](bytes.svg)",
    "\n### Megabytes stored\n",
    storedTable(cells, (cell) => (cell.bytes === undefined ? undefined : cell.bytes / 1e6)),
    "\n### Milliseconds to load the state\n",
    storedTable(
      cells.filter(({ saver }) => saver !== NO_SAVER),
      (cell) => loadAt(cells, cell),
    ),
    "\n### Import\n",
    table(
      ["package", "ms", "memory (RSS), MB", "heap, MB"],
      startUp.map(({ entry, ms, rss, heap }) => [entry, ...[ms, rss, heap].map(spreadText)]),
    ),
    "\n### What is worse, and why\n",
    ...worse(cells),
    "",
  ].join("\n");
}

function worse(cells: readonly Cell[]): string[] {
  const loop = timeRatio(cells, { system: FLOOR, saver: NO_SAVER, turns: 200 }, PEER_DEEP_PLAN);
  const share = loop === undefined ? "about half" : `${number(loop)} times`;
  const empty = timeRatio(cells, { system: EMPTY, saver: NO_SAVER, turns: 200 }, FLOOR);
  const least =
    empty === undefined
      ? ""
      : ` A middleware that only passes the call on takes ${number(empty)} times the bare loop.`;
  return [
    `- An open plan costs time in every turn, not only in those that report: LangChain builds and compiles a schema anew in every model call for every middleware with state, LangGraph copies the plan into the task of every tool call, and the middleware stores its counts.${least} A report is one more task of the graph, and one more message that is saved in every later step. Without a saver that shows beside a loop that does next to nothing; with one it shows less.`,
    `- \`createDeepAgent\` and \`deepagents\` are the same loop of LangGraph, with 2 and with 3 supersteps per turn. \`createAgent\` without any middleware takes ${share} as long as \`deepagents\` with \`todoListMiddleware\` (200 turns, no saver): half of it is the floor and not within reach of an agent that does something in its turns. \`deepagents\` without a plan does less than \`createDeepAgent\`, which plans.`,
  ];
}

function timeTable(cells: readonly Cell[]): string {
  const saver = cells[0]!.saver;
  return table(
    ["system", ...TURNS.map(String), "vs createAgent at 200"],
    systemsOf(cells).map((system) => {
      const ratio = timeRatio(cells, { system, saver, turns: 200 }, FLOOR);
      const times = TURNS.map((turns) => {
        const cell = cellAt(cells, { system, saver, turns });
        return cell ? spreadText(spreadOf(cell.perTurn)) : "";
      });
      return [system, ...times, ratio === undefined ? "" : number(ratio)];
    }),
  );
}

/** A row per saver and system, a column per length. */
function storedTable(cells: readonly Cell[], value: (cell: Cell) => number | undefined): string {
  const rows = [...new Set(cells.map(({ saver }) => saver))].flatMap((saver) =>
    systemsOf(cells.filter((cell) => cell.saver === saver)).flatMap((system) => {
      const found = TURNS.map((turns) => {
        const cell = cellAt(cells, { system, saver, turns });
        return cell && value(cell);
      });
      const shown = found.map((one) => (one === undefined ? "" : number(one)));
      return shown.some(Boolean) ? [[saver, system, ...shown]] : [];
    }),
  );
  return table(["saver", "system", ...TURNS.map(String)], rows);
}

function systemsOf(cells: readonly Cell[]): string[] {
  return [...new Set(cells.map(({ system }) => system))];
}

function spreadText({ median, low, high, samples }: Spread): string {
  return samples > 1 ? `${number(median)} (${number(low)}–${number(high)})` : number(median);
}
