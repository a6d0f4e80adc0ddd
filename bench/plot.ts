const WIDTH = 860;
const HEIGHT = 440;
const PLOT = { left: 95, right: 525, top: 40, bottom: 390 };
const COLORS = ["#b91c1c", "#ea580c", "#7c3aed", "#0369a1", "#6b7280", "#15803d"];

export interface PlotOptions {
  title: string;
  /** What the horizontal axis counts. */
  across: string;
  lines: readonly { name: string; points: readonly { x: number; y: number }[] }[];
}

/** Lines over two logarithmic axes. Lines without points are left out. */
export function plotLines({ title, across, lines }: PlotOptions): string {
  const drawn = lines.filter(({ points }) => points.length > 0);
  const values = drawn.flatMap(({ points }) => points);
  const ticks = [...new Set(values.map(({ x }) => x))].toSorted((a, b) => a - b);
  const low = Math.floor(Math.log10(Math.min(...values.map(({ y }) => y))));
  const high = Math.ceil(Math.log10(Math.max(...values.map(({ y }) => y))));
  const left = scale([Math.log(ticks[0]!), Math.log(ticks.at(-1)!)], [PLOT.left, PLOT.right]);
  const top = scale([low, high], [PLOT.bottom, PLOT.top]);
  const powers = Array.from({ length: high - low + 1 }, (_, at) => low + at);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="white"/>`,
    `<text x="${PLOT.left}" y="22" font-size="14">${title}</text>`,
    ...powers.flatMap((power) => [
      `<line x1="${PLOT.left}" x2="${PLOT.right}" y1="${top(power)}" y2="${top(power)}" stroke="#ddd"/>`,
      `<text x="${PLOT.left - 8}" y="${top(power) + 4}" text-anchor="end">${(10 ** power).toLocaleString("en")}</text>`,
    ]),
    ...ticks.map(
      (x) => `<text x="${left(Math.log(x))}" y="${PLOT.bottom + 18}" text-anchor="middle">${x}</text>`,
    ),
    `<text x="${(PLOT.left + PLOT.right) / 2}" y="${PLOT.bottom + 38}" text-anchor="middle">${across}</text>`,
    ...drawn.flatMap(({ name, points }, at) => {
      const path = points.map(({ x, y }) => [left(Math.log(x)), top(Math.log10(y))] as const);
      const color = COLORS[at % COLORS.length]!;
      return [
        `<polyline fill="none" stroke="${color}" stroke-width="2" points="${path.map((p) => p.join(",")).join(" ")}"/>`,
        ...path.map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="3" fill="${color}"/>`),
        `<rect x="${PLOT.right + 12}" y="${PLOT.top + at * 22}" width="10" height="10" fill="${color}"/>`,
        `<text x="${PLOT.right + 28}" y="${PLOT.top + at * 22 + 9}">${name}</text>`,
      ];
    }),
    "</svg>",
    "",
  ].join("\n");
}

function scale([from, to]: [number, number], [start, end]: [number, number]): (value: number) => number {
  return (value) => Math.round(start + ((value - from) / (to - from)) * (end - start));
}
