import { timelineOf, type Bar } from "../lanes.ts";
import { timeWords, type ThreadState } from "../thread.ts";
import { duration, failureWord } from "../words.ts";
import { escaped } from "./escaped.ts";

const WIDTH = 1000;
const ROW = 18;
const HEAD = 20;

/** Durations as bars, and in words for readers who cannot see them. */
export function timelineHtml({ spans, time }: Pick<ThreadState, "spans" | "time">): string {
  const now = Math.max(0, ...spans.map(({ from, to = from }) => to));
  const { lanes } = timelineOf(spans, now);
  if (lanes.length === 0) return "";
  let top = 0;
  const drawn = lanes.map(({ name, rows }) => {
    const title = `<text x="0" y="${top + 14}">${escaped(name)}</text>`;
    top += HEAD;
    const bars = rows.flatMap((row) => {
      const y = top;
      top += ROW;
      return row.bars.map((bar) => barSvg(bar, y));
    });
    return title + bars.join("");
  });
  return `<h2 id="timeline">Timeline</h2>
<p class="about">${escaped(timeWords(time).join(", "))}</p>
<svg viewBox="0 0 ${WIDTH} ${top}" role="img" aria-label="What took how long">${drawn.join("")}</svg>`;
}

function barSvg({ span, start, width, took }: Bar, y: number): string {
  const { kind, label, ok } = span;
  const words = [label, duration(took), failureWord(span)].filter(Boolean).join(", ");
  const x = (start * WIDTH).toFixed(1);
  const wide = (Math.min(width, 1 - start) * WIDTH).toFixed(1);
  const look = `${kind}${ok === false ? " failed" : ""}`;
  return `<rect class="${look}" x="${x}" y="${y}" width="${wide}" height="${ROW - 4}" rx="3"><title>${escaped(words)}</title></rect>`;
}
