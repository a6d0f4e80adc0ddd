import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { AIMessage, HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDeepAgent } from "../../../deep/index.ts";
import { diskBackend } from "../../../files/index.ts";
import { isPlanChangeEvent } from "../../../middleware/plan/events.ts";
import { isSubagentEvent } from "../../../subagents/index.ts";
import { OfflineModel } from "../model.ts";

const folders: string[] = [];
afterAll(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

type Contents = Record<string, string | Uint8Array>;

async function directoryOf(files: Contents): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "survey-"));
  folders.push(folder);
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  return folder;
}

/** The offline model, with a list of what it called. */
class Recorded extends OfflineModel {
  readonly turns: string[] = [];

  override async _generate(messages: BaseMessage[], options: this["ParsedCallOptions"]) {
    const result = await super._generate(messages, options);
    const { message } = result.generations[0]!;
    const calls = AIMessage.isInstance(message) ? (message.tool_calls ?? []) : [];
    this.turns.push(
      calls.map(({ name, args }) => `${name} ${JSON.stringify(args)}`).join("\n") || message.text,
    );
    return result;
  }
}

async function surveyed(folder: string) {
  const model = new Recorded();
  const agent = createDeepAgent({ model, backend: diskBackend(folder) });
  const events: unknown[] = [];
  const input = { messages: [new HumanMessage("Survey this directory")] };
  let last: { messages: BaseMessage[]; todos?: { status: string }[] } | undefined;
  for await (const [mode, chunk] of await agent.stream(input, { streamMode: ["values", "custom"] })) {
    if (mode === "custom") events.push(chunk);
    else last = chunk;
  }
  const report = await readFile(join(folder, "survey.md"), "utf8").catch(() => "");
  const { messages, todos = [] } = last!;
  return { report, answer: messages.at(-1)!.text, turns: model.turns, events, todos, messages };
}

function section(report: string, title: string): string {
  return new RegExp(`^## ${title}\n\n([^]*?)(?=\n## |(?![^]))`, "m").exec(report)?.[1] ?? "";
}

function rows(table: string): string[][] {
  const lines = table.split("\n").filter((line) => line.startsWith("| "));
  return lines.slice(2).map((line) => line.slice(2, -2).split(" | "));
}

const number = (text: string): number => Number(text.replaceAll(",", ""));

/** What a program that has nothing to do with the model finds in a directory. */
async function facts(folder: string) {
  const paths = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((path) => !/(?:^|\/)(?:node_modules|dist|\.git)\//.test(path) && path !== "survey.md");
  const files = await Promise.all(
    paths.map(async (path) => {
      const bytes = await readFile(join(folder, path));
      const text = bytes.includes(0) ? undefined : bytes.toString("utf8");
      const lines = text === undefined || text === "" ? [] : text.replace(/\n$/, "").split("\n");
      return { path, bytes, lines, hash: createHash("sha256").update(bytes).digest("hex") };
    }),
  );
  return files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** A dozen folders with sources, copies, markers, manifests, binaries and things to leave out. */
function project(): Contents {
  const files: Contents = {
    "package.json": JSON.stringify({
      name: "sample",
      dependencies: { a: "1", b: "2" },
      devDependencies: { c: "1" },
    }),
    "README.md": "# Sample\n\nText | with a bar.\n",
    "dist/bundle.js": "TODO never counted\n".repeat(50),
    "node_modules/a/package.json": "{}",
    "empty.txt": "",
    "logo.png": Uint8Array.from([137, 80, 78, 71, 0, 1, 2, 3]),
    "icon.png": Uint8Array.from([137, 80, 78, 71, 0, 3, 2, 1]),
  };
  for (let at = 1; at <= 12; at += 1) {
    const name = `part-${String(at).padStart(2, "0")}`;
    const body = Array.from({ length: at * 3 }, (_, line) => `export const value${line} = ${line * at};`);
    files[`${name}/index.ts`] = `${body.join("\n")}\n`;
    files[`${name}/inner/notes.md`] = `Notes on ${at}\n${at % 3 === 0 ? "TODO write more\n" : "Nothing.\n"}`;
    if (at % 4 === 0) files[`${name}/inner/license.txt`] = "Permission is granted.\n".repeat(30);
  }
  files["part-02/tool.py"] = "# FIXME: slow\nx = 1\n# HACK and XXX\n# todo in small letters, TODOS\n";
  files["part-03/Cargo.toml"] =
    '[package]\nname = "crate"\n\n[dependencies]\nserde = "1"\n[dependencies.tokio]\nversion = "1"\n';
  files["part-07/copy of notes.md"] = files["part-01/inner/notes.md"]!;
  files["part-05/dist/out.js"] = "var x;\n";
  return files;
}

describe("a survey", () => {
  type Surveyed = Awaited<ReturnType<typeof surveyed>>;
  let [first, second]: Surveyed[] = [];
  let files: Awaited<ReturnType<typeof facts>>;
  beforeAll(async () => {
    const folder = await directoryOf(project());
    first = await surveyed(folder);
    files = await facts(folder);
    second = await surveyed(await directoryOf(project()));
  });

  it("has the sizes and lines that a program finds", () => {
    const { report, answer } = first!;
    const [, count, bytes] = /^([\d,]+) files in [\d,]+ folders, ([\d,]+) bytes\.$/m.exec(report)!;
    expect([number(count!), number(bytes!)]).toEqual([files.length, sum(files.map(sizeOf))]);
    expect(report).toMatch(/^# Survey\n/);
    expect(answer).toContain(`Surveyed ${count} files in `);
    expect(answer).toMatch(/\nThe report is in survey\.md\.$/);
    expect(answer).not.toContain(" /");
    const languages = { TypeScript: /\.ts$/, Markdown: /\.md$/, Python: /\.py$/, Image: /\.png$/ };
    for (const [language, pattern] of Object.entries(languages)) {
      const own = files.filter(({ path }) => pattern.test(path));
      const row = rows(section(report, "Languages")).find(([name]) => name === language);
      const lines = sum(own.map((file) => file.lines.length));
      expect(row?.slice(1).map(number), language).toEqual([own.length, sum(own.map(sizeOf)), lines]);
    }
    const largest = files
      .toSorted((a, b) => sizeOf(b) - sizeOf(a) || (a.path < b.path ? -1 : 1))
      .slice(0, 10)
      .map((file) => [`\`${file.path}\``, sizeOf(file)]);
    const shown = rows(section(report, "Largest files")).map(([path, size]) => [path, number(size!)]);
    expect(shown).toEqual(largest);
  });

  it("finds duplicates by reading them, and does not judge what it cannot read", () => {
    const sets = new Map<string, string[]>();
    for (const { path, hash, lines } of files) {
      if (lines.length > 0) sets.set(hash, [...(sets.get(hash) ?? []), path]);
    }
    const wanted = [...sets.values()].filter((paths) => paths.length > 1);
    const [same = "", unread = ""] = section(first!.report, "Duplicated files").split("not compared:");
    const found = bullets(same).map((line) => [...line.matchAll(/`(.+?)`/g)].map(([, path]) => path));
    expect(new Set(found.map(String))).toEqual(new Set(wanted.map(String)));
    expect(wanted).toHaveLength(2);
    expect(bullets(unread)).toEqual(["- `icon.png`, `logo.png`: 8 bytes each; not text"]);
  });

  it("names leftover markers by line, dependencies by manifest, and what it left out", () => {
    const wanted = files.flatMap(({ path, lines }) =>
      lines.flatMap((line, at) =>
        /\b(?:TODO|FIXME|XXX|HACK)\b/.test(line) ? `- \`${path}:${at + 1}\` \`${line}\`` : [],
      ),
    );
    const markers = section(first!.report, "Leftover markers");
    expect(bullets(markers)).toEqual(wanted);
    expect(markers).toContain(`${wanted.length} lines with TODO`);
    expect(bullets(section(first!.report, "Dependency manifests"))).toEqual([
      '- `package.json`: npm "sample": 2 dependencies, 1 development',
      '- `part-03/Cargo.toml`: Cargo "crate": 2 dependencies',
    ]);
    const omitted = section(first!.report, "Not looked at");
    expect(omitted).toContain("`dist`, `node_modules`, `part-05/dist`");
  });

  it("is planned, reported beside the work, and delegated in one turn", () => {
    const { turns, events, todos } = first!;
    expect(turns.length).toBeGreaterThanOrEqual(30);
    expect(todos.map(({ status }) => status)).toEqual(Array(8).fill("completed"));
    const tasks = turns.flatMap((turn) => turn.match(/^task /gm)?.length ?? []);
    expect(tasks).toEqual([3]);
    const started = events.filter(isSubagentEvent).slice(0, 3);
    expect(started.map(({ type, todoId }) => `${type} ${todoId}`)).toEqual([
      "subagent-start 4",
      "subagent-start 5",
      "subagent-start 6",
    ]);
    const owners = new Set(events.filter(isPlanChangeEvent).map(({ owner }) => owner));
    expect(owners.size).toBe(4);
    const alone = turns.filter((turn) => turn.startsWith("update_todos") && !turn.includes("\n"));
    expect(alone).toEqual([]);
  });

  it("goes the same way every time", () => {
    expect(second!.report).toBe(first!.report);
    expect(second!.answer).toBe(first!.answer);
    expect(callsIn(second!.messages)).toEqual(callsIn(first!.messages));
    // Helpers work side by side: whose turn comes first is not said.
    expect(second!.turns.toSorted()).toEqual(first!.turns.toSorted());
  });
});

function callsIn(messages: readonly BaseMessage[]) {
  return messages.flatMap((message) => (AIMessage.isInstance(message) ? (message.tool_calls ?? []) : []));
}

function bullets(text: string): string[] {
  return text.split("\n").filter((line) => line.startsWith("- "));
}

function sizeOf({ bytes }: { bytes: Uint8Array }): number {
  return bytes.length;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

it("a survey counts every line of more files than one result can name, and says what git ignores", async () => {
  const many = Array.from({ length: 1200 }, (_, at) => {
    const folder = `src/part ${at % 12}/a folder`;
    return [`${folder}/a file with a rather long name ${at}.ts`, "a\nb\n"] as const;
  });
  const folder = await directoryOf({
    ...Object.fromEntries(many),
    ".gitignore": "*.log\n/made/\n",
    "a.log": "one\n",
    "made/x.ts": "one\n",
  });
  const { report } = await surveyed(folder);
  const row = rows(section(report, "Languages")).find(([name]) => name === "TypeScript");
  expect(row?.slice(1).map(number)).toEqual([1200, 4800, 2400]);
  expect(report).toContain("- what git ignores: 2 files or folders");
  expect(report).not.toContain("Not searched:");
});
