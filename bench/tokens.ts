import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { ScriptedModel } from "../src/testing/index.ts";
import { commonPrefix, piecesOf, type Counter, type Pieces } from "./count.ts";
import { costOf } from "./money.ts";
import type { System } from "./systems.ts";
import { REQUEST, scriptOf } from "./task.ts";

/** What a run sent and got, as pieces to count. */
export interface Recording {
  requests: Pieces[];
  answers: Pieces[];
}

export interface TokenFigures {
  turns: number;
  input: number;
  output: number;
  /** Input tokens that the request before already had at its beginning. */
  cached: number;
  /** The first request: prompt, tools and the user's message. */
  first: number;
  /** The share of requests, after the first, that begin with the whole request before them. */
  prefixStable: number;
  /** US dollars. */
  money: number;
  moneyCached: number;
}

/** Runs a system on the task of a size and keeps what went over the wire. */
export async function record(system: System, size: number): Promise<Recording> {
  const script = scriptOf(size, system.plan);
  const model = new ScriptedModel(script);
  const agent = system.create({ model, size });
  const run = (await agent.invoke({ messages: [new HumanMessage(REQUEST)] }, { recursionLimit: 10_000 })) as {
    messages: { status?: string; text: string }[];
    todos?: { status: string }[];
  };
  const failed = run.messages.find((message) => message.status === "error");
  if (failed) throw new Error(`${system.name}, ${size} items: a tool call failed: ${failed.text}`);
  if (model.requests.length !== script.length) {
    throw new Error(
      `${system.name}: ${model.requests.length} requests for a script of ${script.length} steps.`,
    );
  }
  if (run.todos?.some(({ status }) => status !== "completed")) {
    throw new Error(`${system.name}, ${size} items: the run ended with an open plan.`);
  }
  const answers = run.messages.filter((message) => AIMessage.isInstance(message));
  return {
    requests: model.requests.map(piecesOf),
    answers: answers.map((message) => piecesOf({ tools: [], messages: [message] })),
  };
}

/** Counts a recording. */
export function measure({ requests, answers }: Recording, counter: Counter): TokenFigures {
  const sum = (numbers: number[]): number => numbers.reduce((total, number) => total + number, 0);
  const input = sum(requests.map((request) => counter.count(request)));
  const output = sum(answers.map((answer) => counter.count(answer)));
  const common = requests.map((request, at) => (at === 0 ? 0 : commonPrefix(requests[at - 1]!, request)));
  const cached = sum(requests.map((request, at) => counter.count(request.slice(0, common[at]))));
  const stable = common.filter((pieces, at) => at > 0 && pieces === requests[at - 1]!.length);
  return {
    turns: requests.length,
    input,
    output,
    cached,
    first: counter.count(requests[0]!),
    prefixStable: stable.length / Math.max(1, requests.length - 1),
    money: costOf({ input, cached: 0, output }),
    moneyCached: costOf({ input, cached, output }),
  };
}
