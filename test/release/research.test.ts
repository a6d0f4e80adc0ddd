import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { ToolMessage, type BaseMessage } from "@langchain/core/messages";
import type { Runnable } from "@langchain/core/runnables";
import { MemorySaver } from "@langchain/langgraph";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { createResearchAgent } from "../../examples/research/agent.ts";
import { OfflineModel } from "../../examples/research/offline.ts";
import { disagreements, readDefects } from "../../examples/research/offline/defects.ts";
import { servePages } from "../../examples/research/pages.ts";
import { research } from "../../examples/research/research.ts";
import { searchTool } from "../../examples/research/search.ts";
import { contentWords, sentencesOf } from "../../examples/research/words.ts";
import graphs from "../../langgraph.json" with { type: "json" };
import { run as runToEnd } from "../helpers/terminal/run-program.ts";

const folder = "examples/research";
const documents = Object.fromEntries(
  readdirSync(`${folder}/documents`).map((file) => [
    `documents/${file}`,
    readFileSync(`${folder}/documents/${file}`, "utf8"),
  ]),
);
const tsx = pathToFileURL(resolve("node_modules/tsx/dist/loader.mjs")).href;
// Outside the repository, tsx would not find out where `holdfast` is.
const bare = { PATH: process.env["PATH"], TSX_TSCONFIG_PATH: resolve("tsconfig.json") };

let home: string;
const servers: ReturnType<typeof createServer>[] = [];

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "holdfast-research-"));
});

afterEach(() => {
  vi.unstubAllEnvs();
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

afterAll(() => {
  rmSync(home, { recursive: true });
});

describe("the research example on the offline model", () => {
  const question =
    "Why did the kelp forests of northern California collapse, and how can kelp forests be restored?";
  let run: Awaited<ReturnType<typeof start>> & { report: string };

  beforeAll(async () => {
    const done = await start([resolve(folder, "run.ts"), question]);
    run = { ...done, report: readFileSync(join(home, "final_report.md"), "utf8") };
  });

  it("writes a report whose every quotation stands in the document it cites", () => {
    const { code, stdout, stderr, report } = run;
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^No model is configured: .*\nTAVILY_API_KEY is not set: /);
    expect(stdout).toContain(`Report: ${join(home, "final_report.md")}`);
    const { sources, quotations } = read(report);
    expect(quotations.length).toBeGreaterThan(6);
    expect(new Set(quotations.map(({ source }) => source)).size).toBe(sources.length);
    for (const { quote, source } of quotations) expect(documents[source], source).toContain(quote);
    for (const section of sectionsOf(report)) expect(section).toMatch(/\[\d+\]/);
  });

  it("reads the pages that it quotes from, and asks the library by MCP", async () => {
    const { origin, close } = await servePages();
    const agent = createResearchAgent({ model: new OfflineModel(), env: {}, pages: origin });
    const input = { messages: [{ role: "user", content: "How fast does giant kelp grow?" }] };
    const results: string[] = [];
    const stream = await agent.stream(input, { streamMode: "values", subgraphs: true });
    for await (const [, { messages = [] }] of stream as AsyncIterable<
      [unknown, { messages?: BaseMessage[] }]
    >) {
      const last = messages.at(-1);
      if (!ToolMessage.isInstance(last)) continue;
      results.push(`${last.name} ${last.status} ${last.text.replaceAll(origin, "ORIGIN")}`);
    }
    close();
    const shown = results.join("\n");
    expect(shown).toMatch(/^web_fetch \w+ <external_data source="ORIGIN\/documents\/[\w-]+\.md">/m);
    expect(shown).toMatch(
      /^mcp__library__list_directory success <external_data source="MCP server library">/m,
    );
  });

  it("plans, researches in parallel and completes every item", () => {
    const lines = [...run.stdout.matchAll(/^ {2}researcher for #\d (starts|is done)$/gm)];
    const events = lines.map(([, what]) => what);
    expect(events.slice(0, 2)).toEqual(["starts", "starts"]);
    expect(events.filter((event) => event === "is done")).toHaveLength(3);
    expect(lastPlan(run.stdout).map(([mark]) => mark)).toEqual(Array.from({ length: 6 }, () => "[x]"));
  });

  it("shows both sides where the review found that sources contradict each other", () => {
    const points = readDefects(run.stdout);
    const pairs = points.filter((point) => point.kind === "disagreement");
    expect(pairs).toHaveLength(1);
    expect(points).toEqual(pairs);
    for (const { one, other } of pairs) {
      expect(documents[one.source]).toContain(one.quote);
      expect(documents[other.source]).toContain(other.quote);
      const lines = run.report.split("\n");
      const line = lines.find((text) => text.includes(one.quote) && text.includes(other.quote));
      expect(line).toMatch(/\[\d+\], but .*\[\d+\]$/);
    }
  });

  it("follows up on words that the review missed, and names those that no document has", async () => {
    const { stdout, report } = await researched(
      "How do quicklime, lobsters and otters compare as ways to control urchins?",
    );
    const missing = readDefects(stdout).flatMap((point) => (point.kind === "missing" ? [point.word] : []));
    expect(missing).toEqual(["quicklime", "control"]);
    expect(lastPlan(stdout).at(-1)).toEqual(["[x]", "Follow up: quicklime, control"]);
    const { quotations } = read(report);
    expect(quotations.some(({ quote }) => quote.includes("quicklime"))).toBe(true);
    expect(unanswered(report)).toEqual(["control"]);
    for (const { quote, source } of quotations) expect(documents[source]).toContain(quote);
    expect(mentionedAnywhere("control")).toBe(false);
  });

  it("says so when the documents say nothing", async () => {
    const { stdout, report } = await researched("How do I bake sourdough bread?");
    const { sources, quotations } = read(report);
    expect([sources, quotations]).toEqual([[], []]);
    expect(unanswered(report)).toEqual(["bake", "sourdough", "bread"]);
    expect(unanswered(report).some(mentionedAnywhere)).toBe(false);
    const empty = readDefects(stdout).flatMap((point) => (point.kind === "no-source" ? [point.section] : []));
    expect(empty).toEqual(["How do I bake sourdough bread", "Figures"]);
    for (const title of empty) expect(report).toContain(`## ${title}\n\nNo source was found for this.\n`);
  });

  it("decides from the messages alone: every step can be taken by a new agent", async () => {
    const checkpointer = new MemorySaver();
    const config = { configurable: { thread_id: "t" }, interruptBefore: ["tools"] as ["tools"] };
    const asked = "How fast does giant kelp grow?";
    let stepwise: Record<string, string> = {};
    let input: object | null = { messages: [{ role: "user", content: asked }] };
    for (let next = ["model"]; next.length > 0; input = null) {
      const { graph } = createResearchAgent({ model: new OfflineModel(), checkpointer, env: {} });
      await graph.invoke(input, config);
      const state = await graph.getState(config);
      next = state.next;
      stepwise = (state.values as { files: Record<string, string> }).files;
    }
    const { report } = await researched(asked);
    expect(stepwise["/final_report.md"]?.trim()).toBe(report.trim());
  });
});

describe("the command line of the research example", () => {
  let compiled: string;
  let program: string;

  beforeAll(async () => {
    // Compiled once, on the built package: to do that in each process takes longer than all that they do. Beside the
    // example, so that it finds what that finds.
    compiled = mkdtempSync(resolve("examples/.tmp-research-"));
    program = join(compiled, "run.js");
    const sources = readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .map((file) => join(folder, file));
    const options = ["--ignoreConfig", "--noCheck", "--noResolve", "--rewriteRelativeImportExtensions"];
    const form = ["--module", "nodenext", "--target", "es2023", "--verbatimModuleSyntax"];
    const places = ["--rootDir", folder, "--outDir", compiled];
    const made = await runToEnd("node_modules/.bin/tsc", [...options, ...form, ...places, ...sources]);
    if (!made.ok) throw new Error(made.stdout);
    symlinkSync(resolve(folder, "documents"), join(compiled, "documents"));
  });
  afterAll(() => rmSync(compiled, { recursive: true }));

  it("answers wrong usage with one line and exit code 2", async () => {
    const wrong = [[], ["--nope", "x"], ["x", "--out"]];
    for (const { code, stdout, stderr } of await Promise.all(
      wrong.map((args) => startNode([program, ...args])),
    )) {
      expect([code, stdout], stderr).toEqual([2, ""]);
      expect(stderr).toMatch(/^.+ Try --help\.\n$/);
    }
    const help = await startNode([program, "--help"]);
    expect([help.code, help.stderr]).toEqual([0, ""]);
    expect(help.stdout).toContain("--out DIR");
  });

  it("stops at Ctrl-C with one line and exit code 130", async () => {
    let child: ReturnType<typeof spawn> | undefined;
    const url = await listen(() => child!.kill("SIGINT"));
    const env = { HOLDFAST_MODEL: "openai-compatible:silent", HOLDFAST_BASE_URL: url };
    const out = join(home, "interrupted");
    const args = [program, "What is kelp?", "--out", out];
    const { code, stderr } = await startNode(args, { env, onStart: (started) => void (child = started) });
    expect([code, stderr]).toEqual([130, "Interrupted. No report was written.\n"]);
    expect(readdirSync(out)).toEqual([]);
  });

  it("explains a failure of the model in one line, and exits with 1", async () => {
    const url = await listen((_, response) => void response.writeHead(401).end("{}"));
    const env = {
      HOLDFAST_MODEL: "openai-compatible:gone",
      HOLDFAST_BASE_URL: url,
      HOLDFAST_API_KEY: "secret",
    };
    const { code, stderr } = await startNode([program, "What is kelp?"], { env });
    expect([code, stderr]).toEqual([
      1,
      "OpenAI-compatible did not accept the API key (401): check HOLDFAST_API_KEY.\n",
    ]);
  });
});

describe("internet_search", () => {
  it("finds the passage of a document, and says that it is no web search", async () => {
    const text = await search({}, "amoeba disease of sea urchins");
    expect(text).toMatch(
      /^TAVILY_API_KEY is not set: .+\n\n## Urchin barrens: .+\ndocuments\/urchin-barrens\.md\n/,
    );
    expect(await search({}, "sourdough")).toMatch(/\n\nNo results\.$/);
  });

  it("asks Tavily where there is a key", async () => {
    const requests: unknown[] = [];
    const baseUrl = await listen((request, response) => {
      request.setEncoding("utf8").on("data", (body: string) => {
        requests.push([request.url, request.headers.authorization, JSON.parse(body)]);
        const results = [{ title: "Kelp", url: "https://kelp.example/", content: "Kelp\n grows.", score: 1 }];
        response.end(JSON.stringify({ results }));
      });
    });
    expect(await search({ TAVILY_API_KEY: "tvly-1" }, "kelp", { baseUrl })).toBe(
      "## Kelp\nhttps://kelp.example/\nKelp grows.",
    );
    expect(requests).toEqual([["/search", "Bearer tvly-1", { query: "kelp", max_results: 6 }]]);
  });

  it("tells the model what went wrong at Tavily, without the key", async () => {
    const failing = (options: object) => search({ TAVILY_API_KEY: "tvly-1" }, "kelp", options);
    const refusing = await listen((_, response) => void response.writeHead(401).end());
    await expect(failing({ baseUrl: refusing })).rejects.toThrow(
      "Tavily search failed: it did not accept TAVILY_API_KEY (401).",
    );
    const silent = await listen(() => {});
    await expect(failing({ baseUrl: silent, timeout: 50 })).rejects.toThrow("no answer in 0.05 s");
    await expect(failing({ baseUrl: "http://127.0.0.1:1" })).rejects.toThrow(
      /^Tavily search failed: fetch failed/,
    );
  });
});

it("the documents disagree only in the known places", () => {
  const sentences = Object.entries(documents).flatMap(([source, text]) =>
    text
      .split("\n\n")
      .flatMap((paragraph) => sentencesOf(paragraph))
      .map((quote) => ({ quote, source, title: "" })),
  );
  const pairs = disagreements(sentences).map(({ one, other }) =>
    [one, other].map(({ source }) => source.replace(/documents\/(.+)\.md/, "$1")).join(" and "),
  );
  expect(pairs).toEqual([
    "giant-kelp and satellite-record",
    "northern-california and satellite-record",
    "red-list-sunflower-star and sea-star-wasting",
    "restoration-record and urchin-removal",
  ]);
});

it("langgraph.json names a graph that can be run", async () => {
  const [path, name] = graphs.graphs.research.split(":");
  withoutSettings();
  const { [name!]: graph } = (await import(resolve(path!))) as Record<string, Pick<Runnable, "invoke">>;
  const messages = [{ role: "user", content: "What is a holdfast?" }];
  const { todos, files } = (await graph!.invoke({ messages })) as { todos: object[]; files: object };
  expect(todos).toHaveLength(5);
  expect(Object.keys(files)).toEqual([
    "/research/1.md",
    "/research/2.md",
    "/final_report.md",
    "/critique.md",
  ]);
});

/** Leaves this process without a model and without a key, until the test ends. */
function withoutSettings(): void {
  const settings = Object.keys(process.env).filter((name) => /^HOLDFAST_|_(KEY|TOKEN|URL)$/.test(name));
  for (const name of settings) vi.stubEnv(name, undefined);
}

/** Researches a question in this process, in an empty folder and with nothing configured. */
async function researched(question: string): Promise<{ stdout: string; report: string }> {
  withoutSettings();
  const lines: string[] = [];
  const log = vi.spyOn(console, "log").mockImplementation((line: string) => void lines.push(line));
  try {
    const { signal } = new AbortController();
    const path = await research({ question, out: mkdtempSync(join(home, "out-")), signal });
    return { stdout: lines.join("\n"), report: readFileSync(path, "utf8") };
  } finally {
    log.mockRestore();
  }
}

interface StartOptions {
  env?: Record<string, string>;
  onStart?: (child: ReturnType<typeof spawn>) => void;
}

const start = (args: string[]) => startNode(["--import", tsx, ...args]);

function startNode(args: string[], { env, onStart }: StartOptions = {}) {
  return new Promise<{ code: number | null; stdout: string; stderr: string }>((done) => {
    const child = spawn(process.execPath, args, {
      cwd: home,
      env: { ...bare, ...env },
    });
    const said = { stdout: "", stderr: "" };
    child.stdout.on("data", (data) => (said.stdout += String(data)));
    child.stderr.on("data", (data) => (said.stderr += String(data)));
    child.on("close", (code) => done({ code, ...said }));
    onStart?.(child);
  });
}

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((ready) => void server.listen(0, "127.0.0.1", ready));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function search(env: Record<string, string>, query: string, options?: object): Promise<string> {
  return searchTool(env, options).invoke({ query });
}

function read(report: string) {
  const [body = "", list = ""] = report.split("\n## Sources\n");
  const sources = [...list.matchAll(/^\d+\. .+: (\S+)$/gm)].map(([, source]) => source!);
  const quotations = [...body.matchAll(/“(.+?)” \[(\d+)\]/g)].map(([, quote, number]) => ({
    quote: quote!,
    source: sources[Number(number) - 1]!,
  }));
  return { sources, quotations };
}

function sectionsOf(report: string): string[] {
  return report.split("\n## Sources\n")[0]!.split("\n## ").slice(1);
}

function unanswered(report: string): string[] {
  return /^No passage that was found mentions: (.+)\.$/m.exec(report)?.[1]?.split(", ") ?? [];
}

function mentionedAnywhere(word: string): boolean {
  const [stem] = contentWords(word).keys();
  return Object.values(documents).some((text) => contentWords(text).has(stem!));
}

/** The items of the plan as they were shown last. */
function lastPlan(stdout: string): string[][] {
  const lines = stdout.slice(0, stdout.lastIndexOf("\n\n(")).split("\n\n").at(-1)!.split("\n");
  return lines.map((line) => [line.slice(0, 3), line.replace(/^.{3} #\d+: /, "")]);
}
