import { HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { GraphRecursionError } from "@langchain/langgraph";
import { createAgent, summarizationMiddleware as theirs, type AgentMiddleware } from "langchain";
import { createDeepAgent, summarizationMiddleware } from "../../src/index.ts";
import { ScriptedModel, type ModelRequestRecord } from "../../src/testing/index.ts";
import { Counter } from "../count.ts";
import { loadDeepagents } from "../deepagents.ts";
import { figureLine } from "../lines.ts";
import { goalOf, type Section, type SectionOptions } from "../section.ts";
import { longThreads, longThreadTable, type LongThread } from "./long-thread.ts";
import { cachedShare, heldShare } from "./requests.ts";
import { judge, modelStep, summarizerStep, taskOf, toolsFor, type Ledger } from "./task.ts";

const SYSTEM_PROMPT = "You work through tickets. Use the tools; be brief.";
/** The same for every system. */
const SIZE = { trigger: { messages: 16 }, keep: { messages: 4 } };
const OURS = "holdfast summarizationMiddleware";
const PEER = "LangChain summarizationMiddleware";

interface Agent {
  invoke(input: object, config: object): Promise<{ messages: BaseMessage[] }>;
}
type Parts = { model: ScriptedModel; writer: ScriptedModel; tools: ReturnType<typeof toolsFor> };

const langchain =
  (more: object) =>
  ({ model, writer, tools }: Parts): Agent => {
    const create = theirs as unknown as (options: object) => AgentMiddleware;
    const middleware = [create({ model: writer, ...SIZE, ...more })];
    return createAgent({ model, tools, systemPrompt: SYSTEM_PROMPT, middleware }) as unknown as Agent;
  };

const SYSTEMS: Record<string, (parts: Parts) => Agent> = {
  [PEER]: langchain({}),
  [`${PEER}, everything shown`]: langchain({ trimTokensToSummarize: 1_000_000 }),
  [OURS]: ({ model, writer, tools }) =>
    createAgent({
      model,
      tools,
      systemPrompt: SYSTEM_PROMPT,
      middleware: [summarizationMiddleware({ model: writer, ...SIZE })],
    }) as unknown as Agent,
  "holdfast createDeepAgent": ({ model, writer, tools }) =>
    createDeepAgent({
      model,
      tools,
      plan: false,
      systemPrompt: SYSTEM_PROMPT,
      summarization: { model: writer, ...SIZE },
    }) as unknown as Agent,
};

/** The parts of the package beside `createDeepAgent`. */
interface Summarizing {
  createSummarizationMiddleware: (options: object) => AgentMiddleware;
  StateBackend: new (config: unknown) => object;
}

/** How its own request for a summary begins. */
const THEIR_REQUEST = "You are a conversation summarizer.";

/** `deepagents` where it is installed. It asks the agent's own model for summaries, whichever model it is given. */
async function deepagents(): Promise<typeof SYSTEMS> {
  const peer = await loadDeepagents().catch(() => undefined);
  if (!peer) return {};
  const { createSummarizationMiddleware, StateBackend } = peer as unknown as Summarizing;
  return {
    deepagents: ({ model, tools }) =>
      peer.createDeepAgent({
        model,
        tools,
        systemPrompt: SYSTEM_PROMPT,
        middleware: [
          createSummarizationMiddleware({
            backend: (config: unknown) => new StateBackend(config),
            trigger: { type: "messages", value: SIZE.trigger.messages },
            keep: { type: "messages", value: SIZE.keep.messages },
          }),
        ],
      }) as unknown as Agent,
  };
}

interface Row {
  system: string;
  tasks: number;
  /** Shares of the tasks: finished, and finished with every condition kept. */
  finished: number;
  true: number;
  /** Model calls that had the request in them. */
  held: number;
  summaries: number;
  tokensPerTrue: number;
  /** The share of the prompt tokens that a provider's cache has from the request before. */
  cached: number;
}

/** Long tasks whose conditions are in the request alone, in a window that is summarized several times. */
export async function contextSection({ quick, seed, progress }: SectionOptions): Promise<Section> {
  const tasks = quick ? 3 : 30;
  const rows: Row[] = [];
  for (const [system, create] of Object.entries({ ...SYSTEMS, ...(await deepagents()) })) {
    rows.push(await measure(system, create, { tasks, seed }));
    progress(`${system} is done`);
  }
  const long = await longThreads({ quick });
  progress("long threads are done");
  const peer = rows.find(({ system }) => system === PEER)!;
  const own = rows.find(({ system }) => system === OURS)!;
  const names = ["finished", "true", "held", "cached"] as const;
  const goals = [
    goalOf({ name: "model calls with the request in them", value: own.held, limit: 1, bound: "at least" }),
    goalOf({ name: "tasks true to their conditions", value: own.true, limit: 1, bound: "at least" }),
  ];
  return {
    name: "context",
    lines: [
      ...rows.flatMap((row) =>
        names.map((figure) =>
          figureLine(["context", row.system, figure], row[figure], peer[figure] || undefined),
        ),
      ),
      ...long.flatMap((row) => longLines(row, long)),
    ],
    goals,
    markdown: markdown(rows, long),
    data: { tasks: rows, long },
    plots: [],
  };
}

/** Beside LangChain's summarization in the same saver. */
function longLines(row: LongThread, all: readonly LongThread[]): string[] {
  const peer = all.find(({ saver, way }) => saver === row.saver && way.includes("LangChain"))!;
  const names = ["stored", "cpuPerTurn", "promptTokens", "held", "cached"] as const;
  return names.map((figure) =>
    figureLine(["context", row.saver, row.way, figure], row[figure], peer[figure] || undefined),
  );
}

async function measure(
  system: string,
  create: (parts: Parts) => Agent,
  { tasks, seed }: { tasks: number; seed: number },
): Promise<Row> {
  const counter = new Counter("o200k", "text");
  const row = { system, tasks, finished: 0, true: 0, held: 0, summaries: 0, tokensPerTrue: 0, cached: 0 };
  const totals = { calls: 0, prompt: 0, cached: 0 };
  for (let at = 0; at < tasks; at += 1) {
    const task = taskOf(`${seed}-${at}`);
    const scene: { ledger: Ledger } = { ledger: { tickets: [], logs: [] } };
    const [work, summarize] = [modelStep(task), summarizerStep(task)];
    const model = new ScriptedModel([(request) => (isSummary(request) ? summarize : work)], { loop: true });
    const writer = new ScriptedModel([summarize], { loop: true });
    const agent = create({ model, writer, tools: toolsFor(scene) });
    const input = { messages: [new HumanMessage(task.request)] };
    const messages = await play(agent, input);
    const { finished, kept } = judge(task, scene.ledger, messages);
    row.finished += finished ? 1 : 0;
    row.true += finished && kept === task.conditions.length ? 1 : 0;
    const turns = model.requests.filter((request) => !isSummary(request));
    const summaries = [...writer.requests, ...model.requests.filter(isSummary)];
    row.summaries += summaries.length;
    totals.calls += turns.length;
    row.held += heldShare(turns, task.request) * turns.length;
    const { prompt, cached } = cachedShare([...turns, ...summaries], counter);
    totals.prompt += prompt;
    totals.cached += cached;
  }
  return {
    ...row,
    finished: row.finished / tasks,
    true: row.true / tasks,
    held: row.held / totals.calls,
    cached: totals.cached / totals.prompt,
    tokensPerTrue: row.true > 0 ? Math.round(totals.prompt / row.true) : 0,
  };
}

function isSummary({ messages }: ModelRequestRecord): boolean {
  return messages.length === 1 && messages[0]!.text.startsWith(THEIR_REQUEST);
}

/** The messages at the end; none where it came to no end: an agent that forgets what it has done begins anew. */
async function play(agent: Agent, input: object): Promise<BaseMessage[]> {
  try {
    return (await agent.invoke(input, { recursionLimit: 200 })).messages;
  } catch (error) {
    if (error instanceof GraphRecursionError) return [];
    throw error;
  }
}

function markdown(rows: readonly Row[], long: readonly LongThread[]): string {
  const percent = (share: number): string => `${(share * 100).toFixed(1)}%`;
  const lines = rows.map(
    (row) =>
      `| ${row.system} | ${percent(row.finished)} | ${percent(row.true)} | ${percent(row.held)} | ${(row.summaries / row.tasks).toFixed(1)} | ${row.tokensPerTrue || "—"} | ${percent(row.cached)} |`,
  );
  return `## Context

30 tickets of about 1,200 tokens, with four conditions that are in the request alone; a conversation is summarized at 16 messages and keeps 4. The simulated model keeps every condition that it sees; the simulated summarizer leaves out each condition that it is shown in one of ten summaries. True: finished, with every condition kept. Held: model calls with the request in them. Tokens: prompts of model and summarizer for each true task. Cached: their share that stood in front of the request before. \`deepagents\` has the agent's own model write summaries, whichever it is given, so that model plays the summarizer, too. The files with the whole conversation that it and Holdfast name are not looked into.

| system | finished | true | held | summaries | tokens per true task | cached |
|---|---|---|---|---|---|---|
${lines.join("\n")}

A thread of ${long[0]!.turns} turns with results of 1 kB, summarized at 40 messages: what the saver keeps, and processor time of a turn, with all that a turn does.

${longThreadTable(long)}
`;
}
