import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { afterAll, describe, expect, it } from "vitest";
import { createDeepAgent } from "../../src/index.ts";
import { chooseModel } from "../../src/models/index.ts";
import { callTool, startProvider, type ProviderName, type ProviderStep } from "../../src/testing/index.ts";
import { KEYS, PROVIDERS } from "../helpers/models/providers.ts";
import { inPipes } from "../helpers/terminal/piped-command.ts";

const folders: string[] = [];
afterAll(() => folders.forEach((path) => rmSync(path, { recursive: true })));

/** Runs the command against a provider that streams, in an empty project. */
async function run(provider: ProviderName, steps: ProviderStep[], ...flagsOfTest: string[]) {
  const home = mkdtempSync(join(tmpdir(), "holdfast-cut-"));
  folders.push(home);
  writeFileSync(join(home, "README.md"), "all of it\n");
  const server = await startProvider(provider, steps);
  const { model, variable, path = "" } = PROVIDERS[provider];
  const env = { ...KEYS, HOME: home, PATH: process.env["PATH"], [variable]: server.url + path };
  try {
    const flags = ["--model", model, "--dir", home, "--yes", "--mode", "auto", "--shell", ...flagsOfTest];
    const result = await inPipes(["run", ...flags, "Go"], { cwd: home, env });
    return { ...result, home, requests: server.requests.map((body) => JSON.stringify(body)) };
  } finally {
    await server.stop();
  }
}

/** Providers that send a call's arguments as text. The others send them whole or not at all. */
const SENDS_TEXT = (Object.keys(PROVIDERS) as ProviderName[]).filter(
  (name) => !["google-genai", "ollama"].includes(name),
);

describe.each(SENDS_TEXT)("over the wire of %s", (provider) => {
  it.each(["said", "unsaid"] as const)("a truncated call does not run (%s)", async (cut) => {
    const write = callTool("write_file", { file_path: "/README.md", content: "x".repeat(200) });
    const remove = callTool("execute", { command: `rm -rf ${"kept ".repeat(20)}` });
    const { home, requests, out, err } = await run(provider, [
      { calls: [write], cut },
      { calls: [callTool("ls", { path: "/" }), remove], cut },
      { text: "Done." },
    ]);
    expect(readFileSync(join(home, "README.md"), "utf8"), out + err).toBe("all of it\n");
    expect(existsSync(join(home, "README.md"))).toBe(true);
    expect(out).toMatch(/✗ write .*The arguments could not be read: /);
    expect(requests[1]).toContain("Not run: ");
    expect(requests[1]).toContain("write_file");
    expect(requests[2]).toContain("README.md");
    expect(requests[2]).toMatch(/Not run: [^"]*execute/);
    expect(requests).toHaveLength(3);
  });
});

/** Runs an agent: with `invoke`, which does not stream, or `streamEvents` v3, which reads a provider's own events. */
async function runAgent(provider: ProviderName, steps: ProviderStep[], way: "invoke" | "v3") {
  const server = await startProvider(provider, steps);
  const { model: name, variable, path = "" } = PROVIDERS[provider];
  try {
    const { model } = await chooseModel({ model: name, env: { ...KEYS, [variable]: server.url + path } });
    const agent = createDeepAgent({ model });
    const input = { messages: [new HumanMessage("Go")] };
    const state: unknown =
      way === "invoke"
        ? await agent.invoke(input)
        : await (
            await agent.streamEvents(input, { version: "v3" })
          ).output;
    const { messages, files } = state as { messages: BaseMessage[]; files?: object };
    return { answer: messages.at(-1)!.text, files: Object.keys(files ?? {}), requests: server.requests };
  } finally {
    await server.stop();
  }
}

it.each(SENDS_TEXT)("%s in streamEvents v3 runs no truncated call, and asks again", async (provider) => {
  const write = callTool("write_file", { file_path: "/a.txt", content: "x".repeat(200) });
  for (const cut of ["said", "unsaid"] as const) {
    const { answer, files, requests } = await runAgent(
      provider,
      [{ calls: [write], cut }, { text: "Done." }],
      "v3",
    );
    expect({ answer, files }).toEqual({ answer: "Done.", files: [] });
    expect(JSON.stringify(requests[1])).toMatch(/Not run: [^"]*write_file/);
  }
});

it("Anthropic without a stream runs all calls of a cut-off answer but the last", async () => {
  const write = (path: string) => callTool("write_file", { file_path: path, content: "x" });
  const steps: ProviderStep[] = [
    { calls: [write("/a.txt"), write("/b.txt")], cut: "said" },
    { calls: [write("/c.txt")] },
    { text: "Done." },
  ];
  const { answer, files, requests } = await runAgent("anthropic", steps, "invoke");
  expect({ answer, files }).toEqual({ answer: "Done.", files: ["/a.txt", "/c.txt"] });
  expect(JSON.stringify(requests[1])).toContain("was cut off at the output limit");
});

it.each(Object.keys(PROVIDERS) as ProviderName[])(
  "%s is asked to continue half an answer",
  async (provider) => {
    const { requests, out } = await run(
      provider,
      [
        { text: "The README has three parts: the fir", cut: "said" },
        { text: "st, the second, and the third." },
      ],
      "--quiet",
    );
    expect(requests).toHaveLength(2);
    expect(requests[1]).toContain("Your answer was cut off at the output limit.");
    expect(out.trim()).toBe("The README has three parts: the first, the second, and the third.");
  },
);
