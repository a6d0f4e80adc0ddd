import type { Breakdown } from "./breakdown.ts";
import { number } from "./lines.ts";
import { table } from "./markdown.ts";
import { PRICES } from "./money.ts";
import type { Row } from "./table.ts";

const ASSUMPTIONS = `## Tokens

All figures of this section are exact and repeatable.

- One work call per item, with about 16 tokens of arguments and a result of about 55; items are sentences of 8 to 12 words.
- *own-turn*: the plan is written and updated in turns of its own, as models typically use \`todoListMiddleware\`. *beside*: in the same turn as the next work call, its best case.
- \`lean\` reports beside its work calls, as its prompt asks; *own-turn* is what a model makes of it that calls one tool at a time. *inline* is \`reports: "inline"\`: the report is an argument of the work call. That argument is shown with every tool, at about 8 tokens each; here there is one. \`checklist\` is limited to 20 items; larger plans lift the limit.
- *json*: requests are counted as OpenAI chat JSON, with tool arguments escaped in their strings and ids of the form \`call_12\`. *text*: contents, names, arguments and tool definitions only, and 4 tokens around each message and call. No provider documents exactly what it counts, so the goals are judged in both.
- Each message is encoded on its own. Planning = input + output of all turns, minus the same agent and work without a plan (\`createAgent\`; for \`deepagents\`, \`deepagents\`).
- Money: $${PRICES.input} per million input tokens, $${PRICES.cached} cached, $${PRICES.output} output. Cached is the part of a request that the request before it began with; the price of writing to a cache is left out.
- Every request fits the window. At 100 items those of systems that repeat the list pass 200,000 tokens, more than most models take: read that row as arithmetic. \`deepagents\` with a plan is left out there, since it summarizes.`;

/** The section of RESULTS.md. */
export function tokenReport({
  rows,
  breakdown,
  notes,
}: {
  rows: readonly Row[];
  breakdown: readonly Breakdown[];
  notes: readonly string[];
}): string {
  const groups = [...new Set(rows.map(groupOf))];
  return [
    ASSUMPTIONS,
    ...notes.map((note) => `- ${note}`),
    "\n![Planning tokens by plan size](planning.svg)",
    "\n### Where lean's planning tokens go (o200k)\n",
    table(
      Object.keys(breakdown[0]!),
      breakdown.map((part) => Object.values(part).map(String)),
    ),
    "\nIn json, most of a report is the envelope of chat JSON: roles, names and ids.",
    "\n### Where Holdfast costs more than the peer at the same pace\n",
    ...worse(rows),
    ...groups.flatMap((group) => [
      `\n### ${group}\n`,
      tokenTable(rows.filter((row) => groupOf(row) === group)),
    ]),
    "",
  ].join("\n");
}

function worse(rows: readonly Row[]): string[] {
  const dearer = rows.filter(
    (row) =>
      row.system.startsWith("holdfast") && (row.system.endsWith("own-turn") ? row.vsTypical : row.vsBest) > 1,
  );
  const where = [...new Set(dearer.map((row) => `- ${row.system}, ${row.size} items (${groupOf(row)})`))];
  const why =
    "`checklist` sends an id with every item and gets the list back with marks; its own limit is 20 items.";
  return where.length > 0 ? [...where, "", why] : ["Nowhere."];
}

function groupOf({ tokenizer, accounting }: Row): string {
  return `${tokenizer}, ${accounting}`;
}

function tokenTable(rows: readonly Row[]): string {
  const head =
    "items, system, turns, input, output, fixed, planning, vs typical, vs best, prefix-stable, $, $ cached";
  return table(
    head.split(", "),
    rows.map((row) => [
      String(row.size),
      row.system,
      String(row.turns),
      String(row.input),
      String(row.output),
      String(row.fixed),
      String(row.planning),
      fraction(row.vsTypical),
      fraction(row.vsBest),
      `${number(row.prefixStable * 100)}%`,
      row.money.toFixed(3),
      row.moneyCached.toFixed(3),
    ]),
  );
}

function fraction(ratio: number): string {
  return ratio === 0 ? "0" : ratio < 1 ? `1/${(1 / ratio).toFixed(1)}` : ratio.toFixed(2);
}
