import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createMiddleware } from "langchain";
import { beforeAll, describe, expect, it } from "vitest";
import { createDeepAgent, makeLeadAgent } from "../../src/index.ts";
import { SLASH_COMMANDS } from "../../src/surfaces/cli/session/slash.ts";
import { ScriptedModel } from "../../src/testing/index.ts";
import { typeCheck, type CodeBlock, type CompilerError } from "../helpers/measure/type-check.ts";
import { newDatabase } from "../helpers/postgres/database.ts";
import { isRelease } from "../helpers/runner/rounds.ts";
import { run } from "../helpers/terminal/run-program.ts";

type Block = CodeBlock & { file: string; heading: string; info: string };

const documents = ["README.md", ...markdownIn("docs")];
const fences = documents.flatMap((file) => codeBlocks(file, readFileSync(file, "utf8")));
const blocks = fences.filter(({ info }) => info === "ts" || info === "ts run");
/** Whole programs, each with the output that stands below it. */
const programs = fences.flatMap((block, index) =>
  block.info === "ts run" ? [{ ...block, output: fences[index + 1]! }] : [],
);

it("the README is at most 6 kB", () => {
  expect(Buffer.byteLength(readFileSync("README.md"))).toBeLessThanOrEqual(6000);
});

it("every link in the documentation leads somewhere", () => {
  const pages = [...documents, "CONTEXT.md", "AGENTS.md", "CHANGELOG.md"];
  expect(pages.flatMap((file) => deadLinks(file))).toEqual([]);
});

it("the page of errors has every error code, server status and run outcome", () => {
  const [, union = ""] = /HarnessErrorCode =([^;]+);/.exec(readFileSync("src/errors.ts", "utf8")) ?? [];
  const codes = [...union.matchAll(/"([\w-]+)"/g)].map(([, code = ""]) => `\`${code}\``);
  const server = readdirSync("src/surfaces/server", { recursive: true, encoding: "utf8" });
  const sources = server.filter((file) => file.endsWith(".ts") && !file.includes(".test"));
  const answers = sources.map((file) => readFileSync(join("src/surfaces/server", file), "utf8"));
  const statuses = answers.flatMap((text) =>
    [...text.matchAll(/(?:HTTPException\(|refuse\(\s*(?:c,\s*)?|: |\?\? )([45]\d\d)\b/g)].map(
      ([, code = ""]) => code,
    ),
  );
  const schema = readFileSync("schemas/run-events.v1.json", "utf8");
  const [, outcomes = "", reasons = ""] =
    /"run-end"[^]*?"outcome":[^[]*(\[[^\]]*\])[^]*?"reason":[^[]*(\[[^\]]*\])/.exec(schema) ?? [];
  const ends = (JSON.parse(`[${outcomes},${reasons}]`) as string[][]).flat();
  const page = readFileSync("docs/troubleshooting.md", "utf8");
  expect(codes.length).toBeGreaterThan(10);
  expect(new Set(statuses).size).toBeGreaterThan(10);
  expect(ends).toContain("token-limit");
  const all = [
    ...codes,
    ...new Set(statuses),
    ...ends.filter((end) => end !== "done").map((end) => `\`${end}\``),
  ];
  expect(all.filter((code) => !page.includes(`| ${code} |`))).toEqual([]);
});

it("the pages of the command line and of the session have all their commands", () => {
  const source = readFileSync("src/surfaces/cli/parser/commands.ts", "utf8");
  const commands = [...source.matchAll(/\.command\(\s*"(\w+)/g)].map(([, name = ""]) => name);
  const page = readFileSync("docs/command-line.md", "utf8");
  expect(commands.length).toBeGreaterThan(20);
  expect(
    commands.filter((name) => !new RegExp(`^\\| .*\`(?:plan )?${name}\\b.* \\|`, "m").test(page)),
  ).toEqual([]);
  const session = readFileSync("docs/session.md", "utf8");
  expect(SLASH_COMMANDS.map(({ name }) => `\`/${name}`).filter((name) => !session.includes(name))).toEqual(
    [],
  );
});

it("the pages show the middleware orders of the agents", () => {
  const middleware = [createMiddleware({ name: "middleware" })];
  const shared = {
    model: new ScriptedModel([]),
    goal: { criteria: ["x"] },
    interruptOn: { x: true },
    middleware,
  };
  const knowledge = { skills: ["none"], mcp: { mcpServers: {} } };
  const config = { configurable: { thread_id: "1", is_plan_mode: true, subagent_enabled: true } };
  const agents = {
    "docs/a-turn.md": createDeepAgent({ ...shared, ...knowledge, instructions: ["x"] }),
    "docs/lead-agent.md": makeLeadAgent(config, { ...shared, ...knowledge, summarization: true }),
  };
  for (const [page, agent] of Object.entries(agents)) {
    const [, section = ""] = readFileSync(page, "utf8").split("## The order of middleware");
    const names = [...section.matchAll(/^\d+\. (?:your )?`(\w+)`/gm)].map(([, name]) => name);
    const { options } = agent as { options: { middleware?: readonly { name: string }[] } };
    expect(names).toEqual(options.middleware?.map(({ name }) => name));
  }
});

it("the README of src/langgraph names the installed versions", () => {
  const named = readFileSync("src/langgraph/README.md", "utf8").matchAll(
    /`(langchain|@langchain\/[\w-]+)` ([\d.]+\d)/g,
  );
  const versions = [...named].map(([, name = "", version]) => ({ name, version }));
  const installed = versions.map(({ name }) => ({ name, version: versionOf(name) }));
  expect(versions.length).toBeGreaterThan(0);
  expect(versions).toEqual(installed);
});

function versionOf(name: string): string {
  return (JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8")) as { version: string })
    .version;
}

it("the documentation has code to check", () => {
  expect(blocks).not.toEqual([]);
});

// The types of the package are built for a release run.
describe.runIf(isRelease)("the code in the documentation compiles against the built package", () => {
  let errors: CompilerError[];

  beforeAll(async () => {
    errors = await typeCheck(blocks);
  });

  for (const [index, { file, line, heading }] of blocks.entries()) {
    it(`${file}:${line} ${heading}`, () => {
      const found = errors.filter((error) => error.block === index);
      expect(found.map((error) => `${file}:${error.line} ${error.message}`)).toEqual([]);
    });
  }
});

describe.runIf(isRelease)("the programs in the documentation print what stands below them", () => {
  it.each(programs)("$file", async ({ code, output }) => {
    expect(await print(code)).toContain(output.info === "text" ? output.code : "");
  });

  it.each(programs.filter(({ code }) => code.includes("HOLDFAST_DATABASE_URL")))(
    "$file, in Postgres",
    async ({ code, output }) => {
      expect(await print(code, { HOLDFAST_DATABASE_URL: await newDatabase() })).toContain(output.code);
    },
  );
});

/** Runs a program of a document in a process of its own and returns its output. Throws where it fails. */
async function print(code: string, more: Record<string, string> = {}): Promise<string> {
  const folder = mkdtempSync(".tmp-readme-");
  try {
    writeFileSync(`${folder}/program.ts`, code);
    const env = { PATH: process.env["PATH"], ...more };
    const args = ["--import", "tsx", "program.ts"];
    const { ok, stdout, stderr } = await run(process.execPath, args, { env, cwd: folder });
    if (!ok) throw new Error(stderr || stdout);
    return stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The links of a document to files, or headings of files, that do not exist. */
function deadLinks(file: string): string[] {
  const text = readFileSync(file, "utf8").replaceAll(/^```[^]*?^```/gm, "");
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
  return links.flatMap((target) => {
    if (/^[a-z]+:/.test(target)) return [];
    const [path = "", heading] = target.split("#");
    const found = path === "" ? file : join(dirname(file), path);
    const isThere =
      existsSync(found) && (heading === undefined || headingsIn(found).includes(decodeURIComponent(heading)));
    return isThere ? [] : [`${file}: ${target}`];
  });
}

/** The headings of a page as GitHub addresses them. */
function headingsIn(file: string): string[] {
  const headings = [...readFileSync(file, "utf8").matchAll(/^#+ (.*)$/gm)].map(([, text = ""]) => text);
  return headings.map((text) =>
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

/** The code blocks of a document; `ts` blocks are checked, unless they are marked `ts no-check`. */
function codeBlocks(file: string, text: string): Block[] {
  const found: Block[] = [];
  let heading = "";
  let open: Block | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    const fence = /^\s*```(.*)/.exec(line);
    if (fence && open) {
      found.push(open);
      open = undefined;
    } else if (fence) {
      open = { file, heading, line: index + 1, code: "", info: fence[1]?.trim() ?? "" };
    } else if (open) {
      open.code += `${line}\n`;
    } else {
      heading = /^#+ (.*)/.exec(line)?.[1] ?? heading;
    }
  }
  return found;
}

function markdownIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return paths.filter((path) => path.endsWith(".md")).map((path) => `${folder}/${path}`);
}
