import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { figureLines } from "./lines.ts";
import { plotPlanning } from "./plot.ts";
import { report } from "./report.ts";
import { measureAll, type Results } from "./results.ts";
import { BEST, LEAN, TYPICAL } from "./systems.ts";

const HELP = `Usage: npm run bench -- [--quick]

Measures Holdfast beside its peers and prints one line per figure: name value ratio-vs-peer.
The full run takes about two minutes and writes bench/RESULTS.md, bench/results.json and bench/planning.svg.

  --quick  fewer sizes, one tokenizer, nothing written; under a minute
  --help   this text`;

const PLOTTED = [
  TYPICAL,
  BEST,
  "deepagents + todoListMiddleware own-turn",
  "holdfast classic beside",
  "holdfast checklist beside",
  LEAN,
];

const options = readOptions();
if (options === undefined) process.exitCode = 2;
else if (options.help) console.log(HELP);
else {
  const results = await measureAll({ quick: options.quick });
  console.log(figureLines(results).join("\n"));
  if (!options.quick) writeResults(results);
}

function readOptions(): { quick: boolean; help: boolean } | undefined {
  try {
    const flags = {
      quick: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    } as const;
    return parseArgs({ options: flags }).values;
  } catch (error) {
    console.error(`bench: ${(error as Error).message.split(/\.\s|\n/)[0]}; see npm run bench -- --help`);
    return undefined;
  }
}

function writeResults(results: Results): void {
  const write = (name: string, text: string): void => writeFileSync(new URL(name, import.meta.url), text);
  const plotted = results.tokens.filter((row) => row.tokenizer === "o200k" && row.accounting === "json");
  write("RESULTS.md", report(results));
  write("results.json", `${JSON.stringify(results, null, 2)}\n`);
  write("planning.svg", plotPlanning(plotted, PLOTTED));
}
