import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
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

/** A dozen folders with sources, markers, documents, manifests and generated files. */
function project(): Contents {
  const files: Contents = {
    "package.json": JSON.stringify({ name: "sample", dependencies: { a: "1" } }),
    "README.md": "# Sample\n\nText.\n",
    "dist/bundle.js": "TODO never counted\n".repeat(50),
    "node_modules/a/package.json": "{}",
    "empty.txt": "",
    "logo.png": Uint8Array.from([137, 80, 78, 71, 0, 1, 2, 3]),
  };
  for (let at = 1; at <= 12; at += 1) {
    const name = `part-${String(at).padStart(2, "0")}`;
    files[`${name}/index.ts`] = `export const value = ${at};\n`.repeat(at * 3);
    files[`${name}/inner/notes.md`] =
      `# Notes on ${at}\n${at % 3 === 0 ? "TODO write more\n" : "Nothing.\n"}`;
  }
  files["part-03/Cargo.toml"] = '[package]\nname = "crate"\n';
  files["part-05/tool.py"] = "x = 1\n# FIXME: slow\n# todo in small letters, TODOS\n";
  return files;
}

describe("a survey", () => {
  type Surveyed = Awaited<ReturnType<typeof surveyed>>;
  let [first, second]: Surveyed[] = [];
  beforeAll(async () => {
    first = await surveyed(await directoryOf(project()));
    second = await surveyed(await directoryOf(project()));
  });

  it("has true figures, in the report and in the answer", () => {
    const { report, answer } = first!;
    const files = Object.entries(project()).filter(([path]) => !/^(?:dist|node_modules)\//.test(path));
    const bytes = files.reduce((sum, [, content]) => sum + content.length, 0).toLocaleString("en");
    const totals = `${files.length} files in 25 folders, ${bytes} bytes.`;
    expect(report).toMatch(/^# Survey\n\nMade by Holdfast's offline model, /);
    expect(report).toContain(`\n\n${totals}\n\n`);
    expect(report).toContain(
      "## Largest files\n\n- `part-12/index.ts`: 900 bytes, 36 lines, begins with `export const value = 12;`\n",
    );
    expect(report).toContain(
      "## Leftover markers\n\n5 files\n\n- `part-03/inner/notes.md`: `2:TODO write more`\n",
    );
    expect(report).toContain("- `part-05/tool.py`: `2:# FIXME: slow`\n");
    expect(report).toContain("## Documents\n\n13 files\n\n- `README.md`: `Sample`\n");
    expect(report).toContain(
      "## Package manifests\n\n2 files\n\n- `package.json`: `sample`\n- `part-03/Cargo.toml`: `crate`\n",
    );
    expect(answer).toBe(
      `Surveyed ${totals}\nLargest file: part-12/index.ts with 900 bytes.\nLeftover markers: 5 files\nDocuments: 13 files\nPackage manifests: 2 files\nThe report is in survey.md.`,
    );
  });

  it("is planned, reported together with the work, and delegated in one turn", () => {
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
    // Sub-agents work side by side, in no fixed order.
    expect(second!.turns.toSorted()).toEqual(first!.turns.toSorted());
  });
});

function callsIn(messages: readonly BaseMessage[]) {
  return messages.flatMap((message) => (AIMessage.isInstance(message) ? (message.tool_calls ?? []) : []));
}
