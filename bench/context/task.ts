import { AIMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { tool } from "langchain";
import { z } from "zod";
import { callTool, type ModelRequestRecord, type Step } from "../../src/testing/index.ts";
import { draw, drawBetween } from "../worth/draw.ts";

const TICKETS = 30;
/** About 1,200 tokens each: a summarizer that is shown 4,000 sees three of them. */
const LINES = 110;
/** How often a summarizer leaves out a condition that it is shown. */
const LOSS = 0.1;

/** A task whose conditions are in the request alone. */
export interface ContextTask {
  seed: string;
  request: string;
  late: string;
  before: string;
  withdrawn: string;
  conditions: readonly string[];
}

/** What was done, in order. */
export interface Ledger {
  tickets: string[];
  logs: number[];
}

const name = (number: number): string => `T${String(number).padStart(2, "0")}`;
const ALL = Array.from({ length: TICKETS }, (_, at) => name(at + 1));
const EVERY = 5;
const LAST_WORDS = "Signed off by finance.";

export function taskOf(seed: string): ContextTask {
  const late = name(drawBetween(2, 8, seed, "late"));
  const before = name(drawBetween(18, 26, seed, "before"));
  const withdrawn = name(drawBetween(10, 16, seed, "withdrawn"));
  const conditions = [
    `Work on ${late} only after ${before}.`,
    `Leave out ${withdrawn}, which was withdrawn.`,
    `Call log after every ${EVERY}th ticket.`,
    `End your answer with: ${LAST_WORDS}`,
  ];
  const request = `Work through the tickets ${ALL[0]} to ${ALL.at(-1)}, in order. ${conditions.join(" ")}`;
  return { seed, request, late, before, withdrawn, conditions };
}

export function toolsFor(scene: { ledger: Ledger }) {
  const ticket = tool(
    ({ id }) => {
      scene.ledger.tickets.push(id);
      const text = Array.from(
        { length: LINES },
        (_, at) => `line ${at} of the ticket ${id.toLowerCase()}, paid`,
      );
      return `Ticket ${id} is done.\n${text.join("\n")}`;
    },
    {
      name: "ticket",
      description: `Works on a ticket, ${ALL[0]} to ${ALL.at(-1)}.`,
      schema: z.object({ id: z.string() }),
    },
  );
  const log = tool(
    () => {
      scene.ledger.logs.push(scene.ledger.tickets.length);
      return "Logged.";
    },
    { name: "log", description: "Writes a checkpoint.", schema: z.object({ done: z.number() }) },
  );
  return [ticket, log];
}

/** Plays a model that keeps every condition it can see, and goes by the tickets it sees done. */
export function modelStep(task: ContextTask): Step {
  return ({ messages }: ModelRequestRecord) => {
    const text = textOf(messages);
    const isSeen = (at: number): boolean => text.includes(task.conditions[at]!);
    const done = doneIn(text);
    const last = messages.findLast((message) => ToolMessage.isInstance(message));
    const logged = last?.text === "Logged.";
    if (
      isSeen(2) &&
      done.size > 0 &&
      done.size % EVERY === 0 &&
      !logged &&
      last?.text.startsWith("Ticket ")
    ) {
      return callTool("log", { done: done.size });
    }
    const open = ALL.filter((id) => !done.has(id) && !(isSeen(1) && id === task.withdrawn));
    const next = open.find((id) => !(isSeen(0) && id === task.late && !done.has(task.before)));
    if (next !== undefined) return callTool("ticket", { id: next });
    return isSeen(3) ? `All done. ${LAST_WORDS}` : "All done.";
  };
}

/** Plays a summarizer: it names all tickets that it sees done, and leaves out some of the conditions. */
export function summarizerStep(task: ContextTask): Step {
  let written = 0;
  return ({ messages }: ModelRequestRecord) => {
    const text = textOf(messages);
    written += 1;
    const kept = task.conditions.filter(
      (condition, at) => text.includes(condition) && draw(task.seed, "loss", written, at) >= LOSS,
    );
    return `Tickets are worked through. Done: ${[...doneIn(text)].join(", ")}. ${kept.join(" ")}`;
  };
}

function doneIn(text: string): Set<string> {
  const results = [...text.matchAll(/Ticket (T\d\d) is done\./g)].map(([, id]) => id!);
  const listed = [...text.matchAll(/Done: ((?:T\d\d(?:, )?)+)\./g)].flatMap(([, ids]) => ids!.split(", "));
  return new Set([...listed, ...results]);
}

function textOf(messages: readonly BaseMessage[]): string {
  return messages.map((message) => message.text).join("\n");
}

/** Whether every ticket was worked on that had to be, and whether each condition was kept. */
export function judge(task: ContextTask, { tickets, logs }: Ledger, messages: readonly BaseMessage[]) {
  const wanted = ALL.filter((id) => id !== task.withdrawn);
  const answer = messages.findLast((message) => AIMessage.isInstance(message))?.text ?? "";
  const isLate = tickets.indexOf(task.late) > tickets.indexOf(task.before);
  const isLogged = [5, 10, 15, 20, 25].every((count) => logs.includes(count));
  return {
    finished: wanted.every((id) => tickets.includes(id)),
    kept: [isLate, !tickets.includes(task.withdrawn), isLogged, answer.endsWith(LAST_WORDS)].filter(Boolean)
      .length,
  };
}
