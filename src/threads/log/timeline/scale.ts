export interface Stretch {
  from: number;
  to: number;
}

/** Places moments on a line from 0 to 1. */
export interface TimeScale {
  place: (at: number) => number;
  /** The busy time on the line. */
  length: number;
}

/** The longest idle time on the scale, as a share of the busy time. */
const LONGEST_IDLE = 0.04;

/** A scale that shortens long idle times, such as a night. */
export function timeScale(busy: readonly Stretch[]): TimeScale {
  const stretches = joined(busy);
  const length = stretches.reduce((sum, { from, to }) => sum + to - from, 0);
  const most = Math.max(1, length * LONGEST_IDLE);
  const points: { at: number; x: number }[] = [];
  for (const { from, to } of stretches) {
    const last = points.at(-1);
    const x = last ? last.x + Math.min(from - last.at, most) : 0;
    points.push({ at: from, x }, { at: to, x: x + to - from });
  }
  const total = points.at(-1)?.x || 1;
  return { length, place: (at) => interpolated(points, at) / total };
}

/** The time within a stretch that no other covers. */
export function timeOutside({ from, to }: Stretch, others: readonly Stretch[]): number {
  const covered = joined(others).map((one) => Math.min(one.to, to) - Math.max(one.from, from));
  return covered.reduce((left, part) => left - Math.max(0, part), to - from);
}

function joined(busy: readonly Stretch[]): Stretch[] {
  const sorted = busy.toSorted((a, b) => a.from - b.from);
  const stretches: Stretch[] = [];
  for (const { from, to } of sorted) {
    const last = stretches.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else stretches.push({ from, to: Math.max(from, to) });
  }
  return stretches;
}

function interpolated(points: readonly { at: number; x: number }[], at: number): number {
  const next = firstFrom(points, at);
  if (next === points.length) return points.at(-1)?.x ?? 0;
  const [before, after] = [points[next - 1], points[next]!];
  if (!before || after.at === before.at) return after.x;
  return before.x + ((at - before.at) / (after.at - before.at)) * (after.x - before.x);
}

/** The index of the first point at or after a moment. */
function firstFrom(points: readonly { at: number }[], at: number): number {
  let [low, high] = [0, points.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (points[middle]!.at < at) low = middle + 1;
    else high = middle;
  }
  return low;
}
