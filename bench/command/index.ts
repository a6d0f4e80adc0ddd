import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { figureLine } from "../lines.ts";
import { table } from "../markdown.ts";
import { goalOf, type Section, type SectionOptions } from "../section.ts";
import { ratioOf, spreadOf } from "../time/statistics.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const COMMAND = join(ROOT, "bin/holdfast.cjs");

/** A program to start, as arguments of Node. */
interface Start {
  name: string;
  args: readonly string[];
  /** Whether it is ended when it sends its first request to a model. */
  isAsking?: boolean;
}

const BARE = "node alone";
const IMPORTS = "node with langchain and a provider's client imported";
const VERSION = "holdfast --version";
const REQUEST = "holdfast run, until its first request to a model";

const STARTS: readonly Start[] = [
  { name: BARE, args: ["-e", "0"] },
  {
    name: IMPORTS,
    args: ["--input-type=module", "-e", 'await import("langchain"); await import("@langchain/openai");'],
  },
  { name: VERSION, args: [COMMAND, "--version"] },
  { name: REQUEST, args: [COMMAND, "run", "hi", "--model", "openai:gpt-5.1"], isAsking: true },
];

/** Processor time that the command takes to start, beside that of Node and of LangChain alone. */
export async function commandSection({ quick, progress }: SectionOptions): Promise<Section> {
  const rounds = quick ? 3 : 15;
  const samples = new Map<string, number[]>(STARTS.map(({ name }) => [name, []]));
  // The first round fills the disk cache and Node's compile cache.
  for (let round = 0; round <= rounds; round += 1) {
    progress(`round ${round} of ${rounds}`);
    for (const start of STARTS) {
      const seconds = await processorTime(start);
      if (round > 0) samples.get(start.name)!.push(seconds);
    }
  }
  const of = (name: string): number[] => samples.get(name)!;
  const rows = STARTS.map(({ name }) => ({
    name,
    ms: spreadOf(of(name)).median * 1000,
    vsBare: ratioOf(of(name), of(BARE)),
    vsImports: ratioOf(of(name), of(IMPORTS)),
  }));
  const ratios = new Map(rows.map((row) => [row.name, row]));
  const cells = rows.map(({ name, ms, vsBare, vsImports }) => [
    name,
    ms.toFixed(0),
    vsBare.toFixed(2),
    vsImports.toFixed(2),
  ]);
  return {
    name: "command",
    lines: rows.map(({ name, ms, vsBare }) => figureLine(["command", name], ms, ms / vsBare)),
    goals: [
      goalOf({
        name: "processor time of --version vs node alone",
        value: ratios.get(VERSION)!.vsBare,
        limit: 1.3,
      }),
      goalOf({
        name: "processor time until the first request vs an import of LangChain and a client",
        value: ratios.get(REQUEST)!.vsImports,
        limit: 1,
      }),
    ],
    markdown: [
      "## Starts of the command",
      "",
      `Processor time of a process, user and system, in ms: the median of ${rounds} starts by turns, with a warm disk cache. The ratios are medians of pairs that ran one after the other.`,
      "",
      table(["process", "ms", "vs node alone", "vs the import"], cells),
    ].join("\n"),
    data: rows,
    plots: [],
  };
}

/** Runs a program to its end, or to its first request, and returns the seconds of processor time that it took. */
async function processorTime({ args, isAsking }: Start): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-command-"));
  // Bash counts processes that it has waited for, also those that were killed, in milliseconds.
  const script = '"$@" > /dev/null 2>&1 & echo $!; wait $!; times';
  let pid = 0;
  const provider = createServer(() => process.kill(pid, "SIGKILL"));
  await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
  const { port } = provider.address() as AddressInfo;
  try {
    const shell = spawn("bash", ["-c", script, "bash", process.execPath, ...args], {
      cwd: isAsking ? folder : ROOT,
      env: {
        PATH: process.env["PATH"],
        HOME: folder,
        OPENAI_API_KEY: "key",
        OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
      },
      stdio: ["ignore", "pipe", "ignore"],
    });
    let output = "";
    for await (const chunk of shell.stdout.setEncoding("utf8") as AsyncIterable<string>) {
      output += chunk;
      pid ||= Number(output.split("\n")[0]);
    }
    return secondsIn(output);
  } finally {
    provider.closeAllConnections();
    provider.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Seconds in the last line of the shell's `times`: those of its children, such as `0m0.040s 0m0.010s`. */
function secondsIn(output: string): number {
  const times = [
    ...output
      .trim()
      .split("\n")
      .at(-1)!
      .matchAll(/(\d+)m([\d.]+)s/g),
  ];
  return times.reduce((sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds), 0);
}
