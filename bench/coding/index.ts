import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HumanMessage } from "@langchain/core/messages";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { createAgent, todoListMiddleware, tool } from "langchain";
import { z } from "zod";
import { shellBackend } from "../../src/files/index.ts";
import { createDeepAgent } from "../../src/index.ts";
import { callTool, type ScriptedModel } from "../../src/testing/index.ts";
import { Counter, piecesOf } from "../count.ts";
import { loadDeepagents } from "../deepagents.ts";
import { figureLine, number } from "../lines.ts";
import { goalOf, type Section, type SectionOptions } from "../section.ts";
import { CLASSIC, type Agent } from "../systems.ts";
import { orderCost } from "./order.ts";
import { playerOf, type Manner } from "./player.ts";
import { writeProject } from "./project.ts";

interface Coder {
  name: string;
  manner: Manner;
  create: (model: ScriptedModel, dir: string) => Agent;
}

const TASK =
  "Implement everything in SPEC.md, test what the tests do not cover, and note it in CHANGELOG.md.";
const LEAN: Manner["plan"] = {
  write: (items) => callTool("write_todos", { todos: items }),
  done: (_, count) => callTool("update_todos", { done: String(count) }),
};

const HOLDFAST: Coder = {
  name: "holdfast",
  manner: { isOrdered: true, hasEdits: true, overwrites: true, plan: LEAN },
  create: (model, dir) =>
    createDeepAgent({ model, backend: shellBackend(dir, { isolation: "never" }) }) as unknown as Agent,
};

/** The same played as where calls have no order and an edit is one replacement. */
const STEP_BY_STEP: Coder = {
  ...HOLDFAST,
  name: "holdfast, step by step",
  manner: { isOrdered: false, hasEdits: false, overwrites: true, plan: LEAN },
};

/** Tools that write, edit and run, and nothing else. */
const BARE: Coder = {
  name: "bare agent",
  manner: { isOrdered: false, hasEdits: false, overwrites: true },
  create: (model, dir) => createAgent({ model, tools: bareTools(dir) }) as unknown as Agent,
};

async function deepagents(): Promise<Coder | undefined> {
  try {
    const { createDeepAgent: create, LocalShellBackend } = (await loadDeepagents()) as unknown as {
      createDeepAgent: (options: object) => Agent;
      LocalShellBackend: new (options: object) => object;
    };
    return {
      name: "deepagents",
      manner: {
        isOrdered: false,
        hasEdits: false,
        overwrites: false,
        plan: { write: CLASSIC.write, done: CLASSIC.progress },
      },
      create: (model, dir) => {
        const backend = new LocalShellBackend({ rootDir: dir, virtualMode: true, inheritEnv: true });
        return create({ model, backend, middleware: [todoListMiddleware()] });
      },
    };
  } catch {
    return undefined;
  }
}

interface Figures {
  name: string;
  calls: number;
  prompt: number;
  output: number;
  resent: number;
}

/** A coding task of several parts, replayed on each system by a model that plays it as that system lets it. */
export async function codingSection({ quick, progress }: SectionOptions): Promise<Section> {
  const peer = await deepagents();
  const all: Figures[] = [];
  for (const coder of [HOLDFAST, STEP_BY_STEP, ...(peer ? [peer] : []), BARE]) {
    progress(coder.name);
    all.push(await played(coder));
  }
  progress("processor time of the order");
  const cost = await orderCost({ quick });
  const [own, ...others] = all as [Figures, ...Figures[]];
  const against = others.map((other) => ({ ...other, ratio: own.prompt / other.prompt }));
  const row = ({ name, calls, prompt, output, resent }: Figures): string =>
    `| ${name} | ${calls} | ${prompt} | ${output} | ${resent} |`;
  return {
    name: "coding",
    lines: [
      ...all.map(
        ({ name, prompt }) =>
          `coding.prompt-tokens.${name.replaceAll(/,? /g, "-")} ${prompt} ${(own.prompt / prompt).toFixed(3)}`,
      ),
      figureLine(["coding.cpu-ms-per-turn.ordered"], cost.ordered, cost.unordered),
      figureLine(["coding.cpu-ms-per-turn.unordered"], cost.unordered, cost.unordered),
    ],
    goals: [
      goalOf({ name: "output tokens sent twice", value: own.resent, limit: 0 }),
      ...against.map(({ name, ratio }) =>
        goalOf({ name: `prompt tokens of ${name}`, value: ratio, limit: 0.8 }),
      ),
      goalOf({ name: "processor time of a turn with the order", value: cost.ratio, limit: 1.1 }),
    ],
    markdown: `## A coding task\n\nA specification of seven parts, in the manner of one that was played by hand: look, write the modules in pairs over stubs that a command has printed, edit one of them in several places, test after each part. The same model plays on each system as that system lets it: where calls of one message have no order, a test run is a message of its own, and several edits of one file are one call with all of its text; *step by step* is Holdfast played so. All tests pass at the end on each. o200k tokens of all requests, as JSON.\n\n| system | model calls | prompt tokens | output tokens | sent twice |\n|---|---:|---:|---:|---:|\n${all.map(row).join("\n")}\n\nThe order itself, in turns of five calls that wait for each other: ${number(cost.ordered)} ms of processor time per turn, ${number(cost.unordered)} without \`orderedCallsMiddleware\`; the median of the ratios of runs beside each other is ${cost.ratio.toFixed(3)}.\n`,
    data: { systems: all, order: cost },
    plots: [],
  };
}

async function played({ name, manner, create }: Coder): Promise<Figures> {
  const dir = mkdtempSync(join(tmpdir(), "holdfast-coding-"));
  try {
    writeProject(dir);
    const { model, resent } = playerOf(manner);
    await create(model, dir).invoke({ messages: [new HumanMessage(TASK)] }, { recursionLimit: 200 });
    // Throws where a test fails: then the task was not done, and its tokens say nothing.
    execFileSync("node", ["--test"], { cwd: dir, stdio: "pipe" });
    const counter = new Counter("o200k", "json");
    const calls = model.requests.length;
    const prompt = model.requests.reduce((sum, request) => sum + counter.count(piecesOf(request)), 0);
    const said = model.requests.at(-1)!.messages.filter((message) => message.type === "ai");
    const output = said.reduce(
      (sum, message) => sum + countTokens(JSON.stringify((message as { tool_calls?: object }).tool_calls)),
      0,
    );
    return { name, calls, prompt, output, resent: resent() };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function bareTools(dir: string) {
  const at = (path: string): string => join(dir, path);
  const file_path = z.string();
  return [
    tool(
      ({ file_path: path }) =>
        existsSync(at(path)) ? readFileSync(at(path), "utf8") : "Error: no such file",
      {
        name: "read_file",
        description: "Read a file.",
        schema: z.object({ file_path }),
      },
    ),
    tool(
      ({ file_path: path, content }) => {
        writeFileSync(at(path), content);
        return `Wrote ${path}.`;
      },
      {
        name: "write_file",
        description: "Write a file.",
        schema: z.object({ file_path, content: z.string() }),
      },
    ),
    tool(
      ({ file_path: path, old_string, new_string }) => {
        const text = readFileSync(at(path), "utf8");
        if (text.split(old_string).length !== 2) return "Error: old_string does not occur exactly once.";
        writeFileSync(
          at(path),
          text.replace(old_string, () => new_string),
        );
        return `Edited ${path}.`;
      },
      {
        name: "edit_file",
        description: "Replace text that occurs once.",
        schema: z.object({ file_path, old_string: z.string(), new_string: z.string() }),
      },
    ),
    tool(
      ({ command }) => {
        try {
          return execFileSync("/bin/sh", ["-c", command], { cwd: dir, encoding: "utf8", stdio: "pipe" });
        } catch (error) {
          return String((error as { stdout?: unknown }).stdout);
        }
      },
      { name: "execute", description: "Run a command.", schema: z.object({ command: z.string() }) },
    ),
  ];
}
