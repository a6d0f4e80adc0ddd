import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { circles, loadedWith, violations } from "../helpers/measure/architecture.ts";

describe("the source", () => {
  const source = filesBelow("src");

  it("is there to be checked", () => {
    expect(Object.keys(source)).toContain("src/errors.ts");
  });

  it("keeps its layers, its purity and its shape", () => {
    expect(violations(source)).toEqual([]);
  });

  it("imports one way only, and so do the page, the benchmark and the examples", () => {
    expect(
      circles({ ...source, ...filesBelow("bench"), ...filesBelow("examples"), ...filesBelow("web/src") }),
    ).toEqual([]);
  });

  const COMMANDS = "src/surfaces/cli/commands";
  const langchainIn = (path: string): string[] => {
    expect(Object.keys(source)).toContain(path);
    return [...loadedWith(path, source)].filter((name) => name.includes("langchain")).toSorted();
  };

  it("has parts for the page, which load nothing of Node or LangChain", () => {
    const all = { ...source, ...filesBelow("web/src") };
    expect([...loadedWith("web/src/main.tsx", all)].toSorted()).toEqual([
      "diff",
      "jsonrepair",
      "react",
      "react-dom",
    ]);
  });

  it("loads the client of remote sub-agents, an optional package, when one is started", () => {
    expect(langchainIn("src/deepagents/index.ts")).not.toContain("@langchain/langgraph-sdk");
  });

  it.each([
    "src/surfaces/cli/main.ts",
    "src/surfaces/cli/parser/completion.ts",
    "src/surfaces/cli/editors/install-editors.ts",
    `${COMMANDS}/servers/acp.ts`,
    `${COMMANDS}/completion.ts`,
    `${COMMANDS}/doctor.ts`,
    `${COMMANDS}/threads/rm.ts`,
    `${COMMANDS}/trust.ts`,
    "src/models/clients/providers.ts",
    "src/storage/open/index.ts",
  ])("does not load LangChain for a command that runs no agent: %s", (path) => {
    expect(langchainIn(path)).toEqual([]);
  });

  it.each([
    `${COMMANDS}/store/backup.ts`,
    `${COMMANDS}/store/check.ts`,
    `${COMMANDS}/store/repair.ts`,
    `${COMMANDS}/threads/threads.ts`,
    "src/storage/postgres.ts",
    "src/storage/sqlite.ts",
  ])("loads of LangChain what reads checkpoints, and nothing else, with %s", (path) => {
    const reading = ["@langchain/core", "@langchain/langgraph-checkpoint"];
    expect(langchainIn(path).filter((name) => !reading.includes(name))).toEqual([]);
  });
});

function filesBelow(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const paths = names
    .map((name) => `${folder}/${name.replaceAll("\\", "/")}`)
    .filter((path) => /\.tsx?$/.test(path) && !path.includes("node_modules"));
  return Object.fromEntries(paths.map((path) => [path, readFileSync(path, "utf8")]));
}

describe("the checker", () => {
  const long = "f();\n".repeat(401);

  it.each([
    [
      "a higher layer",
      "src/plan/a.ts",
      `import {\n  x,\n} from "../middleware/x.ts";`,
      "plan may not import middleware",
    ],
    ["a type of a higher layer", "src/plan/a.ts", `import type { X } from "../files/x.ts";`, "import files"],
    [
      "a re-export of a higher layer",
      "src/files/a.ts",
      `export { x } from "../deep/index.ts";`,
      "import deep",
    ],
    ["a dynamic import", "src/plan/a.ts", `await import("langchain");`, "import langchain"],
    ["a computed import", "src/plan/a.ts", "await import(name);", "import a computed name"],
    [
      "an inline type import",
      "src/plan/a.ts",
      `type X = import("@langchain/core").X;`,
      "import @langchain/core",
    ],
    ["a builtin in the engine", "src/plan/a.ts", `import "node:fs";`, "import node:fs"],
    [
      "a builtin in the core",
      "src/middleware/plan/a.ts",
      `import "node:fs";`,
      "the core may not import node:fs",
    ],
    [
      "a middleware of Node in the core",
      "src/middleware/tools/a.ts",
      `import type { X } from "../files/x.ts";`,
      "the core may not import src/middleware/files/x.ts",
    ],
    [
      "another package in the core",
      "src/models/secrets/a.ts",
      `import "@langchain/core/callbacks/dispatch";`,
      "the core may not import @langchain/core/callbacks/dispatch",
    ],
    ["a global of Node in the core", "src/langgraph/a.ts", "setImmediate(run);", "the core may not use"],
    [
      "LangGraph's insides",
      "src/middleware/consent/a.ts",
      `const a = b["__pregel_task_id"];`,
      "may not know __pregel_task_id",
    ],
    [
      "pending writes in a middleware",
      "src/middleware/consent/a.ts",
      "const { pendingWrites } = a;",
      "may not know pendingWrites",
    ],
    ["LangChain in a surface", "src/surfaces/cli/a.ts", `import "langchain";`, "import langchain"],
    ["a surface in another one", "src/surfaces/mcp/a.ts", `import "../acp/x.ts";`, "import surfaces/acp"],
    ["testing code in the product", "src/index.ts", `import "./testing/index.ts";`, "import testing"],
    ["the package importing itself", "src/deep/a.ts", `import "holdfast/plan";`, "import holdfast/plan"],
    ["an import from outside the source", "src/deep/a.ts", `import "../../test/x.ts";`, "import test/x.ts"],
    ["a folder that the table does not know", "src/misc/a.ts", "", "misc has no layer"],
    ["a clock in the engine", "src/plan/a.ts", "const now = new Date();", "use Date"],
    ["randomness in the engine", "src/plan/a.ts", "const id = Math.random();", "use Math.random"],
    ["the environment in the engine", "src/plan/a.ts", "const { env } = process;", "use process"],
    ["a log in the engine", "src/plan/a.ts", "console.log(1);", "use console"],
    ["a timer in the engine", "src/plan/a.ts", "setTimeout(f);", "use setTimeout"],
    ["a log on the terminal", "src/surfaces/cli/a.ts", "console.log(x);", "only main.ts may use console"],
    [
      "a stream of the process",
      "src/surfaces/cli/a.ts",
      "process.stderr.write(x);",
      "only main.ts may use process.stderr",
    ],
    [
      "a stream taken out of the process",
      "src/surfaces/cli/a.ts",
      "const { stdout } = process;",
      "only main.ts may use process.stdout",
    ],
    [
      "a prompt beside the others",
      "src/surfaces/cli/a.ts",
      `import { text } from "@clack/prompts";`,
      "only prompts.ts may use @clack/prompts",
    ],
    [
      "text that is only said to be harmless",
      "src/surfaces/cli/output/a.ts",
      "const line = x as Harmless[];",
      "only output/harmless.ts may use as Harmless",
    ],
    [
      "a stream that takes any text again",
      "src/surfaces/cli/a.ts",
      "const raw = sink as unknown as NodeJS.WriteStream;",
      "only prompts.ts may use as WriteStream",
    ],
    [
      "a file that is looked for beside the source",
      "src/threads/a.ts",
      `const file = new URL("../b.json", import.meta.url);`,
      "use packageFile",
    ],
    [
      "a way into a room past its door",
      "src/threads/a.ts",
      `import "../storage/codec/json.ts";`,
      "enters src/storage/codec by json.ts",
    ],
    [
      "a way into a room inside of a room",
      "src/storage/sqlite/a.ts",
      `import "./database/table.ts";`,
      "enters src/storage/sqlite/database by table.ts",
    ],
    [
      "a way into a part of a room from outside of the room",
      "src/threads/a.ts",
      `import "../storage/codec/json/numbers.ts";`,
      "enters src/storage/codec by json/numbers.ts",
    ],
    [
      "a way into a folder that has no door",
      "src/threads/a.ts",
      `import "./b/c.ts";`,
      "enters src/threads/b, which has no index.ts",
    ],
    ["a star export", "src/plan/a.ts", `export * from "./b.ts";`, "has an `export *`"],
    ["a default export", "src/plan/a.ts", "export default 1;", "has a default export"],
    ["a renamed default export", "src/plan/a.ts", "export { a as default };", "has a default export"],
    ["a vague folder", "src/plan/utils/a.ts", "", "vague name utils"],
    ["a vague file", "src/plan/helpers.test.ts", "", "vague name helpers"],
    ["a long file", "src/plan/a.ts", long, "has 401 code lines"],
    ["a file that does not parse", "src/plan/a.ts", "const =", "Unexpected token"],
  ])("reports %s", (_, path, source, problem) => {
    const rooms = { "src/storage/codec/index.ts": "", "src/storage/sqlite/database/index.ts": "" };
    const files = { ...rooms, "src/threads/b/c.ts": "", [path]: source };
    expect(violations(files)).toEqual([expect.stringContaining(problem)]);
  });

  it.each([
    [
      "a lower layer, its own folder, its packages",
      "src/plan/a.ts",
      `import "../errors.ts"; import "./b.ts"; import "zod/v4";`,
    ],
    [
      "LangChain in middleware",
      "src/middleware/plan/a.ts",
      `import "@langchain/core/messages"; import "../../plan/index.ts";`,
    ],
    [
      "whatever a test imports",
      "src/plan/a.test.ts",
      `import "vitest"; import "../testing/index.ts"; new Date();`,
    ],
    [
      "doors, and a room's own files",
      "src/storage/sqlite/database/a.ts",
      `import "../../store/index.ts"; import "../leases.ts"; import "./table.ts";`,
    ],
    ["the streams where they come in", "src/surfaces/cli/main.ts", "const { stdout } = process;"],
    ["words that are not globals", "src/plan/a.ts", `// Date\nconst x = { process: "console" }.process;`],
    ["a long prompt", "src/plan/a.prompt.ts", long],
    ["a long test", "src/plan/a.test.ts", long],
    ["a long comment", "src/plan/a.ts", `/*\n${long}*/\n${long.replaceAll("f", "// f")}`],
  ])("accepts %s", (_, path, source) => {
    expect(violations({ [path]: source })).toEqual([]);
  });

  it("reports a room with too many source files, tests not counted", () => {
    const names = [...Array.from({ length: 12 }, (_, at) => `f${at}.ts`), "f0.test.ts"];
    const files = Object.fromEntries(names.map((name) => [`src/storage/codec/${name}`, ""]));
    expect(violations(files)).toEqual([]);
    expect(violations({ ...files, "src/storage/codec/index.ts": "" })).toEqual([
      "src/storage/codec: has 13 source files, more than 12",
    ]);
  });

  it.each([
    ["two files", { "src/a.ts": `import "./b.ts";`, "src/b.ts": `import type { A } from "./a.ts";` }],
    [
      "three files in two folders",
      {
        "src/a.ts": `import "./b/c.ts";`,
        "src/b/c.ts": `import "./d.ts";`,
        "src/b/d.ts": `export { a } from "../a.ts";`,
      },
    ],
    ["a file and itself", { "src/a.ts": `import "./a.ts";` }],
  ])("reports a circle of %s", (_, files: Record<string, string>) => {
    expect(circles(files)).toEqual([expect.stringMatching(/^src\/a\.ts → .*src\/a\.ts$/)]);
  });

  it("accepts two ways to one file", () => {
    const files = {
      "src/a.ts": `import "./b.ts"; import "./c.ts";`,
      "src/b.ts": `import "./c.ts";`,
      "src/c.ts": "",
    };
    expect(circles(files)).toEqual([]);
  });
});

it("a file loads its static imports, without types and dynamic imports", () => {
  const files = {
    "src/a.ts": `import { b, x } from "./b.ts";\nimport type { C } from "./c.ts";\nawait import("./d.ts");`,
    "src/b.ts": `export { x } from "@langchain/core/messages";\nexport type { Y } from "zod";\nimport "./a.ts";`,
    "src/c.ts": `import "langchain";`,
    "src/d.ts": `import "pg";`,
  };
  expect([...loadedWith("src/a.ts", files)]).toEqual(["@langchain/core"]);
});
