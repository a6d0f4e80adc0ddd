import type { SectionGoal } from "./section.ts";

/** `name value ratio-vs-peer`. The name's parts are joined by slashes; without a peer the ratio is a dash. */
export function figureLine(parts: readonly (string | number)[], value: number, peer?: number): string {
  return `${figureName(parts)} ${number(value)} ${peer === undefined ? "-" : number(value / peer)}`;
}

/** `goal/tokens/fixed-tokens 366 met (at most 400)`. */
export function goalLine(section: string, goal: SectionGoal): string {
  return `${figureName(["goal", section, goal.name])} ${goalText(goal)}`;
}

/** `0.0559 missed (at most 0.05)`. */
export function goalText({ value, limit, bound, met }: Omit<SectionGoal, "name">): string {
  return `${number(value)} ${met ? "met" : "missed"} (${bound} ${number(limit)})`;
}

/** Whole numbers from 100 on; three significant digits below. */
export function number(value: number): string {
  if (Number.isInteger(value)) return String(value);
  return Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}

function figureName(parts: readonly (string | number)[]): string {
  return parts.join("/").replaceAll(/[\s+]+/g, "-");
}
