// Release notes from a repository's own history: a tool loop to keep. It runs on the model of your environment
// (HOLDFAST_MODEL, or a provider's key); without one a script plays the model, and the first line says so.
// npm run example 00 -- /path/to/repository
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { BaseMessage } from "@langchain/core/messages";
import { chooseModel, createDeepAgent, HarnessError, isPlanChangeEvent } from "holdfast";
import { renderStatus } from "holdfast/plan";
import { callTool, ScriptedModel } from "holdfast/testing";
import { tool } from "langchain";
import { z } from "zod";

const git = async (...args: string[]): Promise<string> =>
  (await promisify(execFile)("git", ["-C", process.argv[2] ?? ".", ...args])).stdout;

// A tool that throws is no end: the model reads the error and decides.
const commits = tool(({ count }) => git("log", `-${count}`, "--format=%h %s"), {
  name: "commits",
  description: "The latest commits: hash and subject.",
  schema: z.object({ count: z.int().min(1).max(50) }),
});
const files = tool(({ commit }) => git("show", "--stat", "--format=%s", commit), {
  name: "files",
  description: "The files that a commit changed.",
  // A word that begins with a dash would be an option of git.
  schema: z.object({ commit: z.string().regex(/^[0-9a-f]{4,40}$/) }),
});

const lastResult = (messages: readonly BaseMessage[], name: string): string =>
  messages.findLast((message) => message.name === name)?.text ?? "";

const script = new ScriptedModel([
  callTool("write_todos", { todos: ["Read the history", "Look at the latest commit"] }),
  callTool("commits", { count: 5 }),
  ({ messages }) => {
    const [hash = ""] = lastResult(messages, "commits").split(" ", 1);
    // Not everywhere is a repository.
    if (!/^[0-9a-f]+$/.test(hash)) return callTool("update_todos", { cancel: "1,2" });
    return [callTool("update_todos", { done: "1" }), callTool("files", { commit: hash })];
  },
  ({ messages }) => {
    const [history, latest] = ["commits", "files"].map((from) => lastResult(messages, from).trim());
    if (!latest) return `There are no commits to read here: ${history}`;
    return `## Changes\n\n${history!.replaceAll(/^\w+ /gm, "- ")}\n\nLatest: ${latest.split("\n").at(-1)!.trim()}.`;
  },
]);

const { model, name } = await chooseModel().catch((error: unknown) => {
  if (HarnessError.from(error)?.code !== "no-model") throw error;
  return { model: script, name: "a script, as no model is set up" };
});
console.log(`The model is ${name}.`);

const agent = createDeepAgent({ model, tools: [commits, files], budget: { modelCalls: 30 } });
const task = "Write release notes in Markdown for the latest five commits. Plan first.";
const input = { messages: [{ role: "user" as const, content: task }] };
for await (const [mode, chunk] of await agent.stream(input, { streamMode: ["custom", "values"] })) {
  if (mode === "custom" && isPlanChangeEvent(chunk)) console.log(renderStatus(chunk.todos));
  const last = mode === "values" ? chunk.messages.at(-1) : undefined;
  if (last?.type === "ai" && last.text !== "") console.log(`\n${last.text}`);
}
