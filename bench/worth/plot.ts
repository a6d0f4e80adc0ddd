import type { Row } from "./figures.ts";

const WIDTH = 860;
const ROW = 30;
const PLOT = { left: 260, right: 800, top: 50 };
const OURS = "#15803d";
const PEER = "#b91c1c";

/** The share of finished tasks by system, with its interval. */
export function plotFinished(rows: readonly Row[]): string {
  const bottom = PLOT.top + rows.length * ROW;
  const x = (part: number): number => Math.round(PLOT.left + part * (PLOT.right - PLOT.left));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${bottom + 50}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${bottom + 50}" fill="white"/>`,
    `<text x="20" y="26" font-size="14">Tasks with every item truly done, under a model with all faults (95% interval)</text>`,
    ...[0, 0.25, 0.5, 0.75, 1].flatMap((part) => [
      `<line x1="${x(part)}" x2="${x(part)}" y1="${PLOT.top}" y2="${bottom}" stroke="#ddd"/>`,
      `<text x="${x(part)}" y="${bottom + 18}" text-anchor="middle">${part * 100}%</text>`,
    ]),
    ...rows.flatMap(({ system, isOurs, figures }, at) => {
      const { value, low, high } = figures.finished!;
      const y = PLOT.top + at * ROW + ROW / 2;
      const color = isOurs ? OURS : PEER;
      return [
        `<text x="${PLOT.left - 10}" y="${y + 4}" text-anchor="end">${system}</text>`,
        `<rect x="${PLOT.left}" y="${y - 7}" width="${x(value) - PLOT.left}" height="14" fill="${color}" opacity="0.55"/>`,
        `<line x1="${x(low)}" x2="${x(high)}" y1="${y}" y2="${y}" stroke="${color}" stroke-width="2"/>`,
        `<circle cx="${x(value)}" cy="${y}" r="3" fill="${color}"/>`,
      ];
    }),
    `<text x="${(PLOT.left + PLOT.right) / 2}" y="${bottom + 38}" text-anchor="middle">green: Holdfast, red: peers</text>`,
    "</svg>",
    "",
  ].join("\n");
}
