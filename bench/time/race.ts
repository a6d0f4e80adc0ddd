import { HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { collectYoung } from "../garbage.ts";
import { REQUEST } from "../task.ts";
import type { Place, SaverKind } from "./place.ts";
import type { Product } from "./product.ts";
import { NO_SAVER } from "./savers.ts";
import { longScript } from "./script.ts";
import type { TimedAgent, TimedSystem } from "./systems.ts";

/** The samples of one system with one saver at one length, in the order they were taken. */
export interface Cell {
  system: string;
  saver: string;
  turns: number;
  /** Milliseconds of processor time per turn of work. */
  perTurn: number[];
  /** Milliseconds of `getState` on the finished thread, each with a saver that was just opened. */
  load: number[];
  /** Bytes on disk. */
  bytes?: number;
}

export interface RaceOptions {
  product: Product;
  systems: readonly TimedSystem[];
  saver: SaverKind;
  turns: number;
  /** Rounds are repeated for this many milliseconds, and at most `rounds` times. The first ones always run. */
  budget: number;
  /** How many those are. */
  least?: number;
  rounds: number;
}

const CONFIG = { configurable: { thread_id: "t" }, recursionLimit: 10_000 };
const LOADS = 5;
/** Turns of a run before each one that is measured: the code is compiled. */
const WARM_UP = 50;

/** Runs the systems by turns, every other round backwards: what changes on the machine meets all of them. */
export async function race({
  product,
  systems,
  saver,
  turns,
  budget,
  least = 1,
  rounds,
}: RaceOptions): Promise<Cell[]> {
  const racers = systems.map((system) => {
    const cell: Cell = { system: system.name, saver: saver.name, turns, perTurn: [], load: [] };
    return { system, cell };
  });
  const end = performance.now() + budget;
  for (let round = 0; round < rounds && (round < least || performance.now() < end); round += 1) {
    for (const { system, cell } of round % 2 === 0 ? racers : racers.toReversed()) {
      const warmUp = { ...cell, turns: Math.min(turns, WARM_UP), perTurn: [], load: [] };
      for (const each of [warmUp, cell]) {
        const place = await saver.create();
        try {
          await sample({ product, system, place, cell: each });
        } finally {
          await place.remove();
        }
      }
    }
  }
  return racers.map(({ cell }) => cell);
}

async function sample({
  product,
  system,
  place,
  cell,
}: {
  product: Product;
  system: TimedSystem;
  place: Place;
  cell: Cell;
}): Promise<void> {
  const script = longScript(cell.turns, system.plan);
  const model = new product.testing.ScriptedModel(script);
  const agent = system.create(model, await place.open());
  const input = { messages: [new HumanMessage({ content: REQUEST, id: "request" })] };
  collectYoung();
  // Processor time: who else works on the machine does not count.
  const start = process.cpuUsage();
  const { messages, todos = [] } = await agent.invoke(input, CONFIG);
  const { user, system: kernel } = process.cpuUsage(start);
  cell.perTurn.push((user + kernel) / 1000 / cell.turns);
  check(`${system.name}, ${cell.saver}, ${cell.turns} turns`, {
    requests: model.requests.length - script.length,
    results: resultsIn(messages) - cell.turns,
    "items done": todos.filter(({ status }) => status === "completed").length - todos.length,
  });
  const bytes = await place.close();
  if (bytes !== undefined) cell.bytes = bytes;
  if (cell.saver === NO_SAVER) return;
  for (let load = 0; load < LOADS; load += 1) {
    cell.load.push(await timeOfLoad({ system, model, place, expected: messages }));
  }
}

async function timeOfLoad({
  system,
  model,
  place,
  expected,
}: {
  system: TimedSystem;
  model: InstanceType<Product["testing"]["ScriptedModel"]>;
  place: Place;
  expected: readonly BaseMessage[];
}): Promise<number> {
  const agent: TimedAgent = system.create(model, await place.open());
  const start = performance.now();
  const { values } = await agent.graph!.getState(CONFIG);
  const time = performance.now() - start;
  const texts = (messages: readonly BaseMessage[]): string =>
    JSON.stringify(messages.map(({ text }) => text));
  // A store that loses a message does not count, however fast.
  check(system.name, { messages: texts(values.messages) === texts(expected) ? 0 : 1 });
  return time;
}

function resultsIn(messages: readonly BaseMessage[]): number {
  return messages.filter((message) => message.type === "tool" && message.name === "work").length;
}

/** A run that did other work than its script, such as a summary, is no figure. */
function check(what: string, differences: Record<string, number>): void {
  for (const [name, difference] of Object.entries(differences)) {
    if (difference !== 0) throw new Error(`${what}: ${name} differ from the script by ${difference}.`);
  }
}
