import type { Row } from "./table.ts";

const WIDTH = 860;
const HEIGHT = 440;
const PLOT = { left: 95, right: 525, top: 40, bottom: 390 };
const COLORS = ["#b91c1c", "#ea580c", "#7c3aed", "#0369a1", "#6b7280", "#15803d"];

/** Planning tokens by plan size, both axes logarithmic, one line per system. */
export function plotPlanning(rows: readonly Row[], systems: readonly string[]): string {
  const sizes = [...new Set(rows.map((row) => row.size))].toSorted((a, b) => a - b);
  const lines = systems
    .map((system) => rows.filter((row) => row.system === system))
    .filter((points) => points.length > 0);
  const costs = lines.flat().map((row) => row.planning);
  const low = Math.floor(Math.log10(Math.min(...costs)));
  const high = Math.ceil(Math.log10(Math.max(...costs)));
  const x = scale([Math.log(sizes[0]!), Math.log(sizes.at(-1)!)], [PLOT.left, PLOT.right]);
  const y = scale([low, high], [PLOT.bottom, PLOT.top]);
  const powers = Array.from({ length: high - low + 1 }, (_, at) => low + at);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="white"/>`,
    `<text x="${PLOT.left}" y="22" font-size="14">Planning tokens of a whole run (o200k, chat JSON)</text>`,
    ...powers.flatMap((power) => [
      `<line x1="${PLOT.left}" x2="${PLOT.right}" y1="${y(power)}" y2="${y(power)}" stroke="#ddd"/>`,
      `<text x="${PLOT.left - 8}" y="${y(power) + 4}" text-anchor="end">${(10 ** power).toLocaleString("en")}</text>`,
    ]),
    ...sizes.map(
      (size) => `<text x="${x(Math.log(size))}" y="${PLOT.bottom + 18}" text-anchor="middle">${size}</text>`,
    ),
    `<text x="${(PLOT.left + PLOT.right) / 2}" y="${PLOT.bottom + 38}" text-anchor="middle">items in the plan</text>`,
    ...lines.flatMap((points, at) => {
      const path = points.map((row) => [x(Math.log(row.size)), y(Math.log10(row.planning))] as const);
      const color = COLORS[at % COLORS.length]!;
      return [
        `<polyline fill="none" stroke="${color}" stroke-width="2" points="${path.map((p) => p.join(",")).join(" ")}"/>`,
        ...path.map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="3" fill="${color}"/>`),
        `<rect x="${PLOT.right + 12}" y="${PLOT.top + at * 22}" width="10" height="10" fill="${color}"/>`,
        `<text x="${PLOT.right + 28}" y="${PLOT.top + at * 22 + 9}">${points[0]!.system}</text>`,
      ];
    }),
    "</svg>",
    "",
  ].join("\n");
}

function scale([from, to]: [number, number], [start, end]: [number, number]): (value: number) => number {
  return (value) => Math.round(start + ((value - from) / (to - from)) * (end - start));
}
