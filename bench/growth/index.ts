import { HumanMessage } from "@langchain/core/messages";
import { figureLine, number } from "../lines.ts";
import { table } from "../markdown.ts";
import { goalOf, type Section, type SectionGoal, type SectionOptions } from "../section.ts";
import { loadProduct, type Product } from "../time/product.ts";
import { ratioOf, spreadOf } from "../time/statistics.ts";
import { agentOn, CONFIG, cpuOf, LongThread, messageOf } from "./long-thread.ts";

/** Everything that is measured, for each length of the thread; milliseconds of processor time, in order. */
const FIGURES = [
  "turn",
  "turn without a store",
  "turn, LangChain's loop",
  "turn, LangChain's loop, without a store",
  "chat",
  "chat again",
  "chat without a store",
  "messages",
  "list",
  "history",
  "page",
] as const;
type Figure = (typeof FIGURES)[number];
type Samples = Record<Figure, number[]>;
type SamplesOf = (turns: number, figure: Figure) => readonly number[];
type Typical = (turns: number, figure: Figure) => number;

interface Sizes {
  turns: readonly number[];
  rounds: number;
  /** Rounds of what the goals compare, at the two lengths alone: a difference of two figures takes more of them. */
  closeRounds: number;
  /** Which length is compared with which. */
  turn: readonly [short: number, long: number];
  chat: readonly [short: number, long: number];
  list: readonly [short: number, long: number];
}

const FULL: Sizes = {
  turns: [10, 20, 100, 1000, 2000, 3000, 5000],
  rounds: 4,
  closeRounds: 24,
  turn: [100, 3000],
  chat: [10, 3000],
  list: [20, 2000],
};
const QUICK: Sizes = {
  turns: [20, 200],
  rounds: 1,
  closeRounds: 1,
  turn: [20, 200],
  chat: [20, 200],
  list: [20, 200],
};
const PAGE = 20;

/** What a thread that grows costs on our store: all lengths by turns, so that what slows the machine meets all. */
export async function growthSection({ quick, progress }: SectionOptions): Promise<Section> {
  const product = await loadProduct();
  const sizes = quick ? QUICK : FULL;
  const threads = sizes.turns.map((turns) => new LongThread(product, turns));
  const samples = new Map<number, Samples>(sizes.turns.map((turns) => [turns, noSamples()]));
  try {
    progress("long threads");
    for (const thread of threads) await thread.build();
    for (let round = 0; round < sizes.rounds; round++) {
      progress(`round ${round + 1} of ${sizes.rounds}`);
      for (const thread of round % 2 === 0 ? threads : threads.toReversed()) {
        await sample(product, thread, samples.get(thread.turns)!);
      }
    }
    for (let round = 0; round < sizes.closeRounds; round++) {
      if (round % 6 === 0) progress(`close round ${round + 1} of ${sizes.closeRounds}`);
      for (const thread of round % 2 === 0 ? threads : threads.toReversed()) {
        const into = samples.get(thread.turns)!;
        if (sizes.turn.includes(thread.turns)) await compiled(into, (to) => sampleTurn(thread, to));
        if (sizes.chat.includes(thread.turns)) await compiled(into, (to) => sampleChat(product, thread, to));
      }
    }
  } finally {
    for (const thread of threads) thread.remove();
  }
  const samplesOf: SamplesOf = (turns, figure) => samples.get(turns)![figure];
  const typical: Typical = (turns, figure) => spreadOf(samplesOf(turns, figure)).median;
  return {
    name: "growth",
    lines: sizes.turns.flatMap((turns) =>
      FIGURES.map((figure) =>
        figureLine(["growth", figure, turns], typical(turns, figure), typical(sizes.turns[0]!, figure)),
      ),
    ),
    goals: goalsOf(sizes, samplesOf),
    markdown: reportOf(sizes, typical),
    data: Object.fromEntries(samples),
    plots: [],
  };
}

async function sample(product: Product, thread: LongThread, into: Samples): Promise<void> {
  await compiled(into, (to) => sampleTurn(thread, to));
  into["turn, LangChain's loop"].push(await thread.turn(false));
  into["turn, LangChain's loop, without a store"].push(await thread.turnWithoutStore(false));
  await compiled(into, (to) => sampleChat(product, thread, to));
  await thread.on(async (saver) => {
    const all = async (items: AsyncIterable<unknown>): Promise<void> => {
      for await (const _ of items);
    };
    const { graph } = agentOn(product, saver, { steps: [], isLight: true });
    into.page.push(await cpuOf(() => saver.listCheckpoints("t", { limit: PAGE })));
    into.list.push(await cpuOf(() => all(saver.list(CONFIG, { limit: PAGE }))));
    into.history.push(await cpuOf(() => all(graph.getStateHistory(CONFIG, { limit: PAGE }))));
  });
}

/** Takes samples twice, and only the second ones count: by then its code is compiled. */
async function compiled(into: Samples, take: (into: Samples) => Promise<void>): Promise<void> {
  await take(noSamples());
  await take(into);
}

/** One with a store and one without, right after each other: they are compared with one another. */
async function sampleTurn(thread: LongThread, into: Samples): Promise<void> {
  into.turn.push(await thread.turn(true));
  into["turn without a store"].push(await thread.turnWithoutStore(true));
}

async function sampleChat(product: Product, thread: LongThread, into: Samples): Promise<void> {
  await thread.on(async (saver) => {
    const chat = (): Promise<unknown> =>
      agentOn(product, saver, { steps: ["Well."], isLight: true }).invoke(
        { messages: [new HumanMessage("How far are you?")] },
        CONFIG,
      );
    into.chat.push(await cpuOf(chat));
    into["chat again"].push(await cpuOf(chat));
  });
  const { agent, messages } = thread.inMemory();
  into["chat without a store"].push(await cpuOf(() => agent.invoke({ messages }, CONFIG)));
  const texts = messages.map((message) => JSON.stringify(message));
  into.messages.push(await cpuOf(async () => texts.map((text) => messageOf(text))));
}

function goalsOf(sizes: Sizes, samplesOf: SamplesOf): SectionGoal[] {
  const store = (turns: number): number => {
    const without = samplesOf(turns, "turn without a store");
    return spreadOf(samplesOf(turns, "turn").map((turn, round) => turn - without[round]!)).median;
  };
  const times = (figure: Figure, [short, long]: readonly [number, number]): number =>
    ratioOf(samplesOf(long, figure), samplesOf(short, figure));
  const [short, long] = sizes.turn;
  return [
    goalOf({
      name: `what the store adds to a turn, at ${long} turns vs at ${short}`,
      value: store(long) / store(short),
      limit: 1.5,
    }),
    ...(["chat", "chat again"] as const).map((figure) =>
      goalOf({
        name: `${figure === "chat" ? "a message after opening" : "the next message"}, at ${sizes.chat[1]} turns vs at ${sizes.chat[0]}`,
        value: times(figure, sizes.chat),
        limit: 5,
      }),
    ),
    goalOf({
      name: `listing ${PAGE} checkpoints, at ${sizes.list[1]} turns vs at ${sizes.list[0]}`,
      value: times("list", sizes.list),
      limit: 2,
    }),
  ];
}

function reportOf(sizes: Sizes, typical: Typical): string {
  const rows = FIGURES.map((figure) => [
    figure,
    ...sizes.turns.map((turns) => number(typical(turns, figure))),
  ]);
  return [
    "## A thread that grows\n",
    `- Milliseconds of processor time, the median of ${sizes.rounds} rounds in which all lengths have their turn, on \`sqliteSaver\` with an agent with a plan; *turn* at ${sizes.turn.join(" and ")} and *chat* at ${sizes.chat.join(" and ")} turns have ${sizes.closeRounds} rounds more. A thread has so many turns of one call with a result of 1 kB, and 13 more; each round has a copy of it.`,
    "- *turn*: one of 12 turns of a run, from one question to the model to the next, with the light loop that `createDeepAgent` and `makeLeadAgent` have; beside it the same without a store. What is left of it there is LangChain's and LangGraph's, and grows with the messages. LangChain's own loop sends the whole list of messages along with every call, which the store has to look at.",
    "- *chat*: one message of a person and its answer, with a saver that was just opened; *chat again*: the next one. *chat without a store*: one for which all messages are there as objects. *messages*: all of them, made of their JSON, and nothing else; no store can do without.",
    `- *list*, *history*, *page*: ${PAGE} checkpoints by \`saver.list\`, \`graph.getStateHistory\` and \`saver.listCheckpoints\`. The first reads long lists when they are looked at, the second looks at all of them, the third has none.\n`,
    table(["", ...sizes.turns.map(String)], rows),
    "",
  ].join("\n");
}

function noSamples(): Samples {
  return Object.fromEntries(FIGURES.map((figure) => [figure, []])) as unknown as Samples;
}
