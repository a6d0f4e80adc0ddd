import { AIMessage, SystemMessage, type BaseMessage } from "@langchain/core/messages";
import { Command } from "@langchain/langgraph";
import { createAgent, createMiddleware, type AnyAgentMiddleware } from "langchain";
import { expect, it } from "vitest";
import { z } from "zod";
import { emptyAnswersMiddleware } from "../../middleware/empty-answers/index.ts";
import { filesMiddleware } from "../../middleware/files/index.ts";
import { loopGuardMiddleware } from "../../middleware/loop-guard/index.ts";
import { planMiddleware } from "../../middleware/plan/index.ts";
import { promptCachingMiddleware } from "../../middleware/prompt-caching/index.ts";
import { secretsMiddleware } from "../../middleware/secrets/index.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import { joinMiddleware } from "./joined-middleware.ts";

const ours = (): AnyAgentMiddleware[] =>
  [
    planMiddleware({ now: () => 1 }),
    filesMiddleware(),
    loopGuardMiddleware(),
    emptyAnswersMiddleware(),
    promptCachingMiddleware(),
    secretsMiddleware(),
  ] as AnyAgentMiddleware[];

const look = callTool("ls", { path: "/" });
const SCRIPTS: Record<string, Step[]> = {
  "a plan, a file and an empty answer": [
    [
      callTool("write_todos", { todos: ["Write"] }),
      callTool("write_file", { file_path: "/a", content: "1" }),
    ],
    "",
    "Done.",
  ],
  "a loop that is warned of and ended": [look, look, look, look, look, look],
  "a failure": [look, new Error("It is down.")],
};

it.each(Object.entries(SCRIPTS))("does what the many do: %s", async (_, script) => {
  const run = async (middleware: AnyAgentMiddleware[]): Promise<unknown> => {
    const model = new ScriptedModel(script);
    const agent = createAgent({ model, tools: [], middleware, systemPrompt: "You work." });
    const told = (messages: readonly BaseMessage[]): unknown[] => messages.map((one) => [one.type, one.text]);
    const state = await agent
      .invoke({ messages: [{ role: "user", content: "Go" }] })
      .catch((error: Error) => error.message);
    const requests = model.requests.map(({ messages }) => told(messages));
    return typeof state === "string" ? { state, requests } : { state: told(state.messages), requests };
  };
  expect(await run(joinMiddleware(ours(), () => true))).toEqual(await run(ours()));
});

it("neighbours are one for LangChain; what is not ours, and what answers with commands, stays by itself", () => {
  const [plan, files, guard, ...others] = ours();
  const theirs = createMiddleware({
    name: "Theirs",
    wrapModelCall: (request, handler) => handler(request),
  }) as AnyAgentMiddleware;
  const list = joinMiddleware([plan!, files!, guard!, theirs, ...others], (one) => one !== theirs);
  expect(list.filter((one) => one.wrapModelCall).map(({ name }) => name)).toEqual([
    "PlanMiddleware",
    "FilesMiddleware+LoopGuardMiddleware.calls",
    "Theirs",
    "EmptyAnswersMiddleware+PromptCachingMiddleware+SecretsMiddleware.calls",
  ]);
  // Whatever else they do stays where it was.
  expect(list.map(({ name }) => name).filter((name) => !name.includes("."))).toEqual(
    [plan!, files!, guard!, theirs, ...others].map(({ name }) => name),
  );
});

it("each is given the context that its schema makes, the state of the step, and the system message so far", async () => {
  const seen: unknown[] = [];
  const wraps = (name: string): AnyAgentMiddleware =>
    createMiddleware({
      name,
      contextSchema: z.object({ tone: z.string().default(name) }),
      wrapModelCall: (request, handler) => {
        const { systemMessage, state, runtime } = request;
        seen.push([name, systemMessage.text, state.messages.length, runtime.context]);
        return handler({
          ...request,
          systemMessage: systemMessage.concat(new SystemMessage(` ${name}`).text),
        });
      },
    }) as AnyAgentMiddleware;
  const run = async (middleware: AnyAgentMiddleware[], context?: object): Promise<unknown[]> => {
    const model = new ScriptedModel(["Done."]);
    const agent = createAgent({ model, tools: [], middleware, systemPrompt: "Go." });
    await agent.invoke({ messages: [{ role: "user", content: "Go" }] }, context && ({ context } as never));
    return [...seen.splice(0), model.requests[0]!.messages.map(({ text }) => text)];
  };
  for (const context of [undefined, { tone: "dry", other: 1 }]) {
    const many = [wraps("One"), wraps("Two")];
    expect(
      await run(
        joinMiddleware(many, () => true),
        context,
      ),
    ).toEqual(await run(many, context));
  }
});

it("one that answers with a command where none is expected is named", async () => {
  const commands = createMiddleware({
    name: "Commands",
    wrapModelCall: async () => new Command({ update: { messages: [new AIMessage("No.")] } }),
  }) as AnyAgentMiddleware;
  const middleware = joinMiddleware([commands], () => true);
  const agent = createAgent({ model: new ScriptedModel(["Done."]), tools: [], middleware });
  await expect(agent.invoke({ messages: [] })).rejects.toThrow("Commands answers with a command");
});
