import { spawn } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ToolMessage } from "@langchain/core/messages";
import Database from "libsql";
import { sqliteSaver } from "../src/storage/index.ts";
import type { RunEvent } from "../src/threads/events/events.ts";
import { chance, type Attack } from "./attack.ts";

const MAIN = join(process.cwd(), "dist/surfaces/cli/main.js");
/** As many at a time as the smallest machine has cores. */
const PARALLEL = 2;
const KILLS_PER_RUN = 10;
const THREAD = "survey";
const START = ["run", "--model", "offline", "--dir", "project", "--thread", THREAD, "Survey this directory"];

/**
 * A survey of more than 30 turns, with sub-agents, is killed at random moments, each followed by `resume`. A failure is
 * a report or a plan that is another than without kills, a call that ran again though its result was saved, or a
 * result that an agent had gone on from and that is not there afterwards.
 */
export const kills: Attack = {
  name: "kills",
  async run({ seed, tries = 50 }) {
    const root = mkdtempSync(join(tmpdir(), "holdfast-kill-"));
    try {
      const calm = await calmRun(root);
      const random = chance(seed);
      const parallel = Math.min(PARALLEL, Math.ceil(tries / KILLS_PER_RUN));
      const wanted = Math.min(KILLS_PER_RUN, Math.ceil(tries / parallel));
      const results: Disturbed[] = [];
      const done = (): number => results.reduce((total, run) => total + run.kills, 0);
      let runs = 0;
      const killUntilEnough = async (): Promise<void> => {
        while (done() < tries) {
          const folder = join(root, `run-${(runs += 1)}`);
          results.push(await disturbedRun(folder, { calm, random, wanted }));
        }
      };
      await Promise.all(Array.from({ length: parallel }, killUntilEnough));
      const differ = (one: Disturbed): boolean =>
        one.report !== calm.report || JSON.stringify(one.plan) !== JSON.stringify(planOf(calm.events));
      const other = results.filter(differ).length;
      const repeated = results.reduce((total, one) => total + one.repeated.length, 0);
      const lost = results.reduce((total, one) => total + one.unsaved.length, 0);
      return {
        tries: done(),
        failures: other + repeated + lost,
        notes: `${runs} runs of ${turnsIn(calm.events)} turns: ${other} ended otherwise, ${repeated} calls repeated, ${lost} results lost`,
      };
    } finally {
      rmSync(root, { recursive: true });
    }
  },
};

interface Calm {
  report: string;
  events: RunEvent[];
  /** How long it takes until the first event, and from there to the end, in milliseconds. */
  boot: number;
  work: number;
}

async function calmRun(root: string): Promise<Calm> {
  const home = newHome(join(root, "calm"));
  const started = Date.now();
  const code = await start(home, "events", START).end();
  if (code !== 0) throw new Error(`The undisturbed run ended with ${code}.`);
  const events = eventsOf(home, "events");
  const first = events[0]!.at;
  const isLong = turnsIn(events) >= 30 && events.some(({ type }) => type === "subagent-end");
  if (!isLong) throw new Error("The undisturbed run is too short, or has no sub-agents.");
  return { report: reportOf(home), events, boot: first - started, work: Date.now() - first };
}

const turnsIn = (events: readonly RunEvent[]): number =>
  events.filter(({ type }) => type === "model-end").length;

interface Disturbed {
  kills: number;
  report: string;
  /** Calls that were run again although their results had been saved. */
  repeated: string[];
  /** Calls that an agent had gone on from when it was killed, and whose results were not there afterwards. */
  unsaved: string[];
  plan: string[];
}

interface Disturbance {
  calm: Calm;
  random: () => number;
  /** How often the run is killed, if it lives that long. */
  wanted: number;
}

/** A run that is killed and resumed some times, and then left in peace. */
async function disturbedRun(folder: string, { calm, random, wanted }: Disturbance): Promise<Disturbed> {
  const home = newHome(folder);
  const finished = new Set<string>();
  const repeated: string[] = [];
  const unsaved: string[] = [];
  let killed = 0;
  let command = START;
  for (let attempt = 0; ; attempt += 1) {
    const child = start(home, `events-${attempt}`, command);
    const { boot, work } = calm;
    // The fewer kills, the more of the work lies between two of them.
    const longest = boot / 2 + work / Math.min(4, wanted);
    const moment = killed < wanted ? boot / 2 + random() * longest : undefined;
    const code = await child.end(moment);
    const events = eventsOf(home, `events-${attempt}`);
    const calls = events.flatMap((event) => (event.type === "tool-start" ? event.call : []));
    repeated.push(...calls.filter((call) => finished.has(call)));
    if (code !== null) {
      if (code !== 0) throw new Error(`A run ended with ${code} after ${killed} kills.`);
      const all = Array.from({ length: attempt + 1 }, (_, at) => eventsOf(home, `events-${at}`)).flat();
      return { kills: killed, report: reportOf(home), repeated, unsaved, plan: planOf(all) };
    }
    killed += 1;
    const saved = await savedCalls(join(home, "threads.db"));
    for (const call of saved ?? []) finished.add(call);
    unsaved.push(...passedCalls(events).filter((call) => !saved?.includes(call)));
    command = saved ? ["resume", THREAD] : START;
  }
}

/** Starts the command line with its events in a file. `end` waits for it, or kills it after some milliseconds. */
function start(home: string, file: string, command: readonly string[]) {
  const events = openSync(join(home, file), "w");
  const child = spawn(process.execPath, [MAIN, ...command, "--json"], {
    cwd: home,
    env: { ...process.env, HOLDFAST_STATE: join(home, "threads.db") },
    stdio: ["ignore", events, "inherit"],
  });
  const exit = new Promise<number | null>((resolve) => child.once("exit", resolve));
  return {
    end: async (killAfter?: number): Promise<number | null> => {
      const timer = killAfter === undefined ? undefined : setTimeout(() => child.kill("SIGKILL"), killAfter);
      const code = await exit;
      clearTimeout(timer);
      closeSync(events);
      return code;
    },
  };
}

/** A folder with a project that takes the survey more than 30 turns. */
function newHome(home: string): string {
  for (let at = 0; at < 12; at += 1) {
    const folder = join(home, "project", `part-${at}`, "src");
    mkdirSync(folder, { recursive: true });
    writeFileSync(
      join(folder, `module-${at}.ts`),
      `export const n = ${at}; // TODO: name it\n`.repeat(at + 1),
    );
    writeFileSync(join(folder, "copy.md"), "The same everywhere.\n");
    writeFileSync(join(folder, "..", "package.json"), `{"name":"part-${at}","dependencies":{"a":"1"}}\n`);
  }
  return home;
}

/** The ids of the tool calls whose results are saved, of the main agent and of sub-agents; undefined without a thread. */
async function savedCalls(path: string): Promise<string[] | undefined> {
  const saver = await sqliteSaver(path);
  try {
    if (!(await saver.getThread(THREAD))) return undefined;
    const calls: string[] = [];
    for (const ns of namespacesIn(path)) {
      const tuple = await saver.getTuple({ configurable: { thread_id: THREAD, checkpoint_ns: ns } });
      const messages = tuple?.checkpoint.channel_values["messages"] ?? [];
      const pending = (tuple?.pendingWrites ?? []).flatMap(([, channel, value]) =>
        channel === "messages" ? value : [],
      );
      for (const message of [messages, pending].flat()) {
        if (ToolMessage.isInstance(message)) calls.push(message.tool_call_id);
      }
    }
    return calls;
  } finally {
    saver.close();
  }
}

/** The tool calls that an agent has read the results of: its model has answered since. */
function passedCalls(events: readonly RunEvent[]): string[] {
  return events.flatMap((event, at) => {
    if (event.type !== "tool-end") return [];
    const isPassed = events
      .slice(at)
      .some((later) => later.type === "model-end" && later.owner === event.owner);
    return isPassed ? [event.call] : [];
  });
}

function namespacesIn(path: string): string[] {
  const database = new Database(path, { readonly: true });
  try {
    const rows = database.prepare("SELECT DISTINCT ns FROM checkpoints").all() as { ns: string }[];
    return rows.map(({ ns }) => ns);
  } finally {
    database.close();
  }
}

function reportOf(home: string): string {
  return readFileSync(join(home, "project/survey.md"), "utf8");
}

/** The events of a file; what a killed process had begun to write at its end is left out. */
function eventsOf(home: string, file: string): RunEvent[] {
  const lines = readFileSync(join(home, file), "utf8").split("\n");
  return lines.slice(0, -1).map((line) => JSON.parse(line) as RunEvent);
}

/** The items of the main plan as they ended. */
function planOf(events: readonly RunEvent[]): string[] {
  const last = events.findLast((event) => event.type === "plan-change" && event.owner === "main");
  return last?.type === "plan-change"
    ? last.todos.map(({ id, content, status }) => `${id} ${content}: ${status}`)
    : [];
}
