// Draws docs/plan.svg from a real run of examples/03-watch.ts: one panel per change of the plan.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";

const root = new URL("..", import.meta.url);
const output = execFileSync(process.execPath, ["--import", "tsx", "examples/03-watch.ts"], {
  cwd: root,
  encoding: "utf8",
});
const panels = output
  .split(/\(\d+\/\d+ completed\) *\n/)
  .filter((panel) => panel.trim() !== "")
  .map((panel) => panel.trim().split("\n").filter(Boolean));

const [panelWidth, lineHeight, margin] = [252, 22, 16];
const rows = Math.max(...panels.map((panel) => panel.length));
const [width, height] = [panels.length * panelWidth + margin, (rows + 1) * lineHeight + 3 * margin];
const colors = { "[x]": "#3fb950", "[>]": "#58a6ff", "[ ]": "#8b949e" };
const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

const body = panels.map((panel, at) => {
  const x = margin + at * panelWidth;
  const done = panel.filter((line) => line.startsWith("[x]")).length;
  const lines = panel.map((line, row) => {
    const y = 2 * margin + (row + 1) * lineHeight;
    return `<text x="${x}" y="${y}" fill="${colors[line.slice(0, 3)]}">${escaped(line)}</text>`;
  });
  return `<text x="${x}" y="${2 * margin}" fill="#c9d1d9">${done}/${panel.length}</text>${lines.join("")}`;
});

const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="ui-monospace,Menlo,Consolas,monospace" font-size="13">
<title>A plan at work: four changes of one run</title>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<g xml:space="preserve">${body.join("\n")}</g>
</svg>
`;
writeFileSync(new URL("docs/plan.svg", root), svg);
