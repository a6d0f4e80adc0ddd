import { writeFileSync } from "node:fs";
import { spawn } from "@lydell/node-pty";
import xterm from "@xterm/headless";

const [columns, rows] = [86, 25];
const SAMPLE_MS = 400;
/** How long the last picture stays before the recording begins again. */
const REST_MS = 5000;
const KEY_MS = 70;
const COLOURS = { 1: "#ff7b72", 2: "#3fb950", 3: "#d29922", 5: "#bc8cff", 6: "#39c5cf" };
const [FOREGROUND, DIM, BACKGROUND] = ["#c9d1d9", "#8b949e", "#0d1117"];

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Runs the command line on a pseudo-terminal and writes what is to be seen as an animated SVG. `line` is what a person
 * would have typed; `act` gets `type(keys)` and `see(pattern)` to play one.
 */
export async function record({ args, line, title, file, env: more, cwd, act = async () => {} }) {
  const { CI: _, NO_COLOR: __, ...inherited } = process.env;
  const env = { ...inherited, TERM: "xterm-256color", HOLDFAST_PACE: "2", ...more };
  const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true });
  const main = new URL("../dist/surfaces/cli/main.js", import.meta.url).pathname;
  const run = spawn(process.execPath, [main, ...args], { cols: columns, rows, cwd, env });
  terminal.write(`\u001B[2m$\u001B[0m ${line}\r\n`);
  run.onData((data) => terminal.write(data));
  const exit = new Promise((resolve) => run.onExit(({ exitCode }) => resolve(exitCode)));

  const frames = [];
  let started;
  const sample = () => {
    const screen = rowsOf(terminal);
    if (screen.length <= 1) return;
    started ??= Date.now();
    if (frames.at(-1)?.screen.join("\n") !== screen.join("\n"))
      frames.push({ at: Date.now() - started, screen });
  };
  const timer = setInterval(sample, SAMPLE_MS);
  await act({
    type: async (keys) => {
      for (const key of keys) {
        run.write(key);
        await wait(KEY_MS);
      }
    },
    see: async (pattern) => {
      while (!pattern.test(textOf(terminal))) await wait(KEY_MS);
      // So that it can be read.
      await wait(1500);
    },
  });
  const exitCode = await exit;
  // What it wrote last has not been drawn yet.
  await wait(200);
  clearInterval(timer);
  sample();
  if (exitCode !== 0) throw new Error(`${line} ended with ${exitCode}.`);
  writeFileSync(new URL(`../${file}`, import.meta.url), svgOf(frames, title));
  console.log(`${file}: ${frames.length} pictures of ${Math.round(frames.at(-1).at / 1000)} s`);
}

function textOf({ buffer: { active } }) {
  const lines = Array.from({ length: rows }, (_unused, at) => active.getLine(active.viewportY + at));
  return lines.map((line) => line?.translateToString(true) ?? "").join("\n");
}

/** The visible rows as SVG spans, so that rows that look alike are alike. */
function rowsOf({ buffer: { active } }) {
  const found = Array.from({ length: rows }, (_unused, at) => spansOf(active.getLine(active.viewportY + at)));
  return found.slice(0, found.findLastIndex((row) => row !== "") + 1);
}

function spansOf(line) {
  if (!line) return "";
  const spans = [];
  for (let at = 0; at < line.length; at += 1) {
    const cell = line.getCell(at);
    if (cell.getWidth() === 0) continue;
    const isPalette = cell.isFgPalette();
    const fill = isPalette ? (COLOURS[cell.getFgColor() % 8] ?? FOREGROUND) : cell.isDim() ? DIM : FOREGROUND;
    const weight = cell.isBold() ? ' font-weight="bold"' : "";
    const style = `fill="${fill}"${weight}`;
    const text = cell.getChars() || " ";
    if (spans.at(-1)?.style === style) spans.at(-1).text += text;
    else spans.push({ style, text });
  }
  // Browsers fold spaces in pictures, whatever xml:space says.
  const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(" ", "\u00A0");
  const last = spans.at(-1);
  if (last) last.text = last.text.trimEnd();
  return spans
    .filter(({ text }) => text !== "")
    .map(({ style, text }) => `<tspan ${style}>${escaped(text)}</tspan>`)
    .join("");
}

/** Each row is drawn once for every stretch of time in which it does not change. */
function svgOf(pictures, title) {
  const total = pictures.at(-1).at + REST_MS;
  const [lineHeight, charWidth, margin] = [19, 7.85, 14];
  const [width, height] = [Math.ceil(columns * charWidth) + 2 * margin, rows * lineHeight + 2 * margin];
  const stretches = [];
  for (let row = 0; row < rows; row += 1) {
    let current;
    for (const [index, { at, screen }] of pictures.entries()) {
      const text = screen[row] ?? "";
      const from = index === 0 ? 0 : at;
      if (text === current?.text) continue;
      if (current) current.until = from;
      current = { row, text, from, until: total };
      if (text) stretches.push(current);
    }
  }
  const body = stretches.map(({ row, text, from, until }) => {
    const y = margin + (row + 0.8) * lineHeight;
    const always = from === 0 && until === total;
    const times = [0, from / total, until / total].map((time) => time.toFixed(4));
    const animation = always
      ? ""
      : from === 0
        ? `<animate attributeName="display" values="inline;none" keyTimes="0;${times[2]}" calcMode="discrete" dur="${total}ms" repeatCount="indefinite"/>`
        : until === total
          ? `<animate attributeName="display" values="none;inline" keyTimes="0;${times[1]}" calcMode="discrete" dur="${total}ms" repeatCount="indefinite"/>`
          : `<animate attributeName="display" values="none;inline;none" keyTimes="${times.join(";")}" calcMode="discrete" dur="${total}ms" repeatCount="indefinite"/>`;
    // Where nothing moves, the last picture is shown.
    const shown = until === total ? "" : ' display="none"';
    return `<text x="${margin}" y="${y.toFixed(1)}"${shown}>${text}${animation}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="13">
<title>${title}</title>
<rect width="100%" height="100%" rx="8" fill="${BACKGROUND}"/>
<g>
${body.join("\n")}
</g>
</svg>
`;
}
