import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import holdfast from "../../package.json" with { type: "json" };
import manifest from "../../packages/plan/package.json" with { type: "json" };
import { bundleForBrowser, MOST_BYTES } from "../helpers/measure/bundle.ts";
import { run } from "../helpers/terminal/run-program.ts";

type Lock = { packages: Record<string, { version: string }> };

/** An agent whose model plans, reports and answers. Prints the plan at the end. */
const AGENT = `
import { AIMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { createAgent } from "langchain";
import { planMiddleware } from "@holdfast/plan";
import { renderChecklist } from "@holdfast/plan/engine";
const call = (name, args) => [{ name, args, id: name, type: "tool_call" }];
const model = fakeModel()
  .respondWithTools(call("write_todos", { todos: ["Dig", "Plant"] }))
  .respondWithTools(call("update_todos", { done: "1,2", note: "by hand" }))
  .respond(new AIMessage("Planted."));
const agent = createAgent({ model, middleware: [planMiddleware()] });
const { todos } = await agent.invoke({ messages: [{ role: "user", content: "A garden" }] });
console.log(renderChecklist(todos));
`;

describe("the package @holdfast/plan", { timeout: 180_000 }, () => {
  let folder: string;
  let tarball: string;
  let cwd: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "holdfast-plan-"));
    const words = ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder];
    const packed = await run("npm", [...words, "./packages/plan"]);
    if (!packed.ok) throw new Error(packed.stderr);
    tarball = join(folder, packed.stdout.trim());

    cwd = join(folder, "project");
    mkdirSync(cwd);
    writeFileSync(join(cwd, "package.json"), `{ "private": true }`);
    const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8")) as Lock;
    const peers = [...Object.keys(manifest.peerDependencies), "@langchain/langgraph-sdk"].map(
      (name) => `${name}@${packages[`node_modules/${name}`]?.version}`,
    );
    const flags = ["--no-audit", "--no-fund", "--prefer-offline"];
    const installed = await run("npm", ["install", ...flags, tarball, ...peers], { cwd });
    if (!installed.ok) throw new Error(installed.stderr);
  });

  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  it("has the version and the ranges of holdfast, and one dependency", () => {
    const { jsonrepair } = holdfast.dependencies;
    expect(manifest).toMatchObject({ version: holdfast.version, engines: holdfast.engines });
    expect(manifest.dependencies).toEqual({ jsonrepair });
    expect(holdfast.peerDependencies).toMatchObject(manifest.peerDependencies);
  });

  it("has nothing for publint to report, and types that resolve", async () => {
    const data = new Uint8Array(readFileSync(tarball)).buffer;
    const { messages, pkg } = await publint({ pack: { tarball: data }, strict: true });
    expect(messages.map((message) => formatMessage(message, pkg, { color: false }))).toEqual([]);
    const options = ["--profile", "node16", "--no-color"];
    const { ok, stdout } = await run("node_modules/.bin/attw", [tarball, ...options]);
    expect(ok, stdout).toBe(true);
  });

  it("keeps an agent's plan in a project that has LangChain and nothing else", async () => {
    const ran = await run(process.execPath, ["--input-type=module", "-e", AGENT], { cwd });
    expect(ran.stderr).toBe("");
    expect(ran.stdout).toMatch(/^\[x\] #1: Dig .*\n\[x\] #2: Plant /);
  });

  it("has a README whose code compiles", async () => {
    const [, code] = /```ts\n([^]+?)```/.exec(readFileSync("packages/plan/README.md", "utf8"))!;
    writeFileSync(join(cwd, "readme.mts"), code!);
    const options = ["--module", "nodenext", "--target", "es2023", "--strict", "--skipLibCheck", "--noEmit"];
    const tsc = join(process.cwd(), "node_modules/.bin/tsc");
    const { ok, stdout } = await run(tsc, [...options, "--singleThreaded", "readme.mts"], { cwd });
    expect(ok, stdout).toBe(true);
  });

  it("is the same for require", async () => {
    const print = (load: string) => `console.log(Object.keys(${load}).join());`;
    const names = ["@holdfast/plan", "@holdfast/plan/engine"];
    const imports = names.map((name) => print(`await import("${name}")`)).join("");
    const imported = await run(process.execPath, ["--input-type=module", "-e", imports], { cwd });
    expect(imported.stdout).toMatch(/planMiddleware.*\n.*renderChecklist/);
    const requires = names.map((name) => print(`require("${name}")`)).join("");
    expect(await run(process.execPath, ["-e", requires], { cwd })).toEqual(imported);
  });

  it("is bundled for browsers, at most as large as in holdfast", async () => {
    const names = ["@holdfast/plan", "@holdfast/plan/engine"].map((name) =>
      bundleForBrowser(`export * from "${name}";`, ["langchain", "@langchain/*", "zod"], cwd),
    );
    const sizes = (await Promise.all(names)).map(({ code }) => Buffer.byteLength(code));
    expect(sizes[0]).toBeLessThanOrEqual(MOST_BYTES.core);
    expect(sizes[1]).toBeLessThanOrEqual(MOST_BYTES.engine);
  });
});
