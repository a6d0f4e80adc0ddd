import type { Goal } from "./goals.ts";
import type { Results } from "./results.ts";
import { TYPICAL } from "./systems.ts";
import { rowOf, type Row } from "./table.ts";

/** One line per figure: `name value ratio-vs-peer`, where the peer is `todoListMiddleware` as models use it. */
export function figureLines({ tokens, supersteps, storage, goals, notes }: Results): string[] {
  const peerSteps = supersteps.find(({ system }) => system === TYPICAL)!.perTurn;
  return [
    ...tokens.flatMap((row) => tokenLines(row, rowOf(tokens, { ...row, system: TYPICAL }))),
    ...supersteps.map(({ system, perTurn }) => line(["supersteps-per-turn", system], perTurn, peerSteps)),
    ...storage.map(({ turns, bytes, peerBytes }) =>
      line(["bytes-per-turn", turns, "holdfast sqliteSaver"], bytes / turns, peerBytes / turns),
    ),
    ...goals.map((goal) => `${name(["goal", goal.accounting, goal.name])} ${goalText(goal)}`),
    ...notes.map((note) => `note: ${note}`),
  ];
}

/** `0.0559 missed (at most 0.05)`. */
export function goalText({ value, limit, bound, met }: Goal): string {
  return `${number(value)} ${met ? "met" : "missed"} (${bound} ${number(limit)})`;
}

/** Whole numbers from 100 on; three significant digits below. */
export function number(value: number): string {
  if (Number.isInteger(value)) return String(value);
  return Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}

function tokenLines(row: Row, peer: Row): string[] {
  const at = ["tokens", row.tokenizer, row.accounting, row.size, row.system];
  const fields = [
    "input",
    "output",
    "fixed",
    "turns",
    "planning",
    "prefixStable",
    "money",
    "moneyCached",
  ] as const;
  return fields.map((field) => line([...at, field], row[field], peer[field]));
}

function line(parts: readonly (string | number)[], value: number, peer: number): string {
  return `${name(parts)} ${number(value)} ${number(value / peer)}`;
}

function name(parts: readonly (string | number)[]): string {
  return parts.join("/").replaceAll(/[\s+]+/g, "-");
}
