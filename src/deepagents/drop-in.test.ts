import { HumanMessage, SystemMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { StateSchema } from "@langchain/langgraph";
import { createAgent, tool } from "langchain";
import { expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { callTool, ScriptedModel } from "../testing/index.ts";
import {
  adaptSandboxProtocol,
  createDeepAgent,
  createFilesystemMiddleware,
  createMemoryMiddleware,
  createPatchToolCallsMiddleware,
  createSkillsMiddleware,
  createSubAgentMiddleware,
  createSummarizationMiddleware,
  filesValue,
  isSandboxBackend,
  LocalShellBackend,
  StateBackend,
  type AnyBackend,
  type BackendProtocolV2,
  type CreateDeepAgentParams,
  type WriteResult,
} from "./index.ts";

const say = (text: string) => ({ messages: [new HumanMessage(text)] });
const task = callTool("task", { description: "Judge it.", subagent_type: "judge" });
const resultOf = (messages: BaseMessage[]): ToolMessage =>
  messages.find((message) => ToolMessage.isInstance(message))!;

it("the result of a task is the report alone, and its artifact has the verdict", async () => {
  const resultFrom = async (answers: (string | ReturnType<typeof callTool>)[]): Promise<ToolMessage> => {
    const agent = createDeepAgent({
      model: new ScriptedModel([task, "Judged."]),
      subagents: [{ name: "judge", description: "judges", model: new ScriptedModel(answers) }],
    });
    const { messages } = await agent.invoke(say("go"));
    return resultOf(messages);
  };
  const done = await resultFrom(['{"score":7}']);
  expect(JSON.parse(done.text)).toEqual({ score: 7 });
  expect(done.artifact).toEqual({ result: "done" });

  const plan = callTool("write_todos", { todos: ["look", "count"] });
  const part = await resultFrom([plan, ...Array<string>(4).fill('{"score":1}')]);
  expect(part.text).toBe('{"score":1}');
  expect(part.artifact).toEqual({
    result: "part",
    reason: "2 of 2 items of its plan are open: look; count",
  });
});

it("a backend whose writes answer with filesUpdate null is a valid backend", () => {
  type Published = Omit<BackendProtocolV2, "write"> & {
    write(path: string, content: string): { path?: string; error?: string; filesUpdate?: null };
  };
  expectTypeOf<{ path: string; filesUpdate: null }>().toExtend<WriteResult>();
  expectTypeOf<Published>().toExtend<AnyBackend>();
  expectTypeOf<Published>().toExtend<NonNullable<CreateDeepAgentParams["backend"]>>();
});

it("a compiled sub-agent in mode fork starts with the caller's conversation", async () => {
  const model = new ScriptedModel(["Judged."]);
  const agent = createDeepAgent({
    model: new ScriptedModel([task, "Done."]),
    subagents: [{ name: "judge", description: "judges", runnable: createAgent({ model }), mode: "fork" }],
  });
  await agent.invoke(say("The whole story."));
  expect(model.requests[0]!.messages.map(({ text }) => text)).toEqual(["The whole story.", "Judge it."]);
});

it("an unknown mode of a sub-agent is refused", () => {
  const judge = { name: "judge", description: "judges", mode: "bogus" };
  const runnable = createAgent({ model: new ScriptedModel([]) });
  for (const spec of [judge, { ...judge, runnable }]) {
    expect(() => createDeepAgent({ model: new ScriptedModel([]), subagents: [spec as never] })).toThrow(
      'the mode of the sub-agent "judge" is "bogus"; use "isolated" or "fork"',
    );
  }
});

it("a system prompt in parts is joined", async () => {
  const promptFrom = async (systemPrompt: CreateDeepAgentParams["systemPrompt"]): Promise<string> => {
    const model = new ScriptedModel(["Done."]);
    await createDeepAgent({ model, systemPrompt: systemPrompt! }).invoke(say("go"));
    return model.requests[0]!.messages[0]!.text;
  };
  expect(await promptFrom({ prefix: "You dig.", base: "Wide.", suffix: "Deep." })).toMatch(
    /^You dig\.\n\nWide\.\n\nDeep\.\n\n/,
  );
  expect(await promptFrom({ base: null, suffix: new SystemMessage("Deep.") })).toMatch(/^Deep\./);
});

it("a tool write_todos of the user's own replaces the plan", async () => {
  const own = tool(({ items }) => `Noted ${items}.`, {
    name: "write_todos",
    description: "Notes.",
    schema: z.object({ items: z.string() }),
  });
  const model = new ScriptedModel([callTool("write_todos", { items: "two" }), "Done."]);
  const { messages } = await createDeepAgent({ model, tools: [own] }).invoke(say("go"));
  expect(resultOf(messages).text).toBe("Noted two.");
  const names = JSON.stringify(model.requests[0]!.tools).match(/"name":"\w*todos"/g);
  expect(names).toEqual(['"name":"write_todos"']);
});

it("the memory option tells the agent where to save what it learns", async () => {
  const model = new ScriptedModel([
    callTool("edit_file", { file_path: "/AGENTS.md", old_string: "tea", new_string: "coffee" }),
    "Done.",
  ]);
  const agent = createDeepAgent({ model, memory: ["/AGENTS.md"] });
  const files = { "/AGENTS.md": { content: "The user drinks tea.\n" } };
  const { files: after } = await agent.invoke({ ...say("go"), files } as never);
  const prompt = model.requests[0]!.messages[0]!.text;
  expect(prompt).toContain("Your memory is in these files: /AGENTS.md.");
  expect(prompt).toContain("The user drinks tea.");
  expect(after["/AGENTS.md"]!.content).toBe("The user drinks coffee.\n");
  const other = new ScriptedModel(["Done."]);
  await createDeepAgent({ model: other }).invoke(say("go"));
  expect(other.requests[0]!.messages[0]!.text).not.toContain("memory");
});

it("an agent is built by hand from DeepAgents' middleware", async () => {
  const judge = new ScriptedModel([callTool("ls", { path: "/" }), "Judged."]);
  const model = new ScriptedModel([
    callTool("write_file", { file_path: "/notes.md", content: "one" }),
    callTool("task", { description: "Judge it.", subagent_type: "judge" }),
    "Done.",
  ]);
  const backend = new StateBackend();
  const agent = createAgent({
    model,
    stateSchema: new StateSchema({ files: filesValue }),
    middleware: [
      createSummarizationMiddleware({ model, backend, trigger: { type: "tokens", value: 100_000 } }),
      createFilesystemMiddleware({ backend, customToolDescriptions: { ls: "Lists.", delete: "Deletes." } }),
      createMemoryMiddleware({ backend, sources: ["/AGENTS.md"] }),
      createSkillsMiddleware({ backend, sources: ["/skills/"] }),
      createPatchToolCallsMiddleware(),
      createSubAgentMiddleware({
        defaultModel: judge,
        generalPurposeAgent: false,
        defaultMiddleware: [createFilesystemMiddleware({ backend, tools: ["ls"] }) as never],
        subagents: [{ name: "judge", description: "judges", systemPrompt: "You judge." }],
      }),
    ],
  });
  const skill = "---\nname: dig\ndescription: Digs holes.\n---\nDig.";
  const files = { "/AGENTS.md": "The user drinks tea.", "/skills/dig/SKILL.md": skill };
  const result = await agent.invoke({ ...say("go"), files } as never);
  const prompt = model.requests[0]!.messages[0]!.text;
  expect(prompt).toContain("The user drinks tea.");
  expect(prompt).toContain("Digs holes.");
  expect(judge.requests[0]!.messages[0]!.text).toContain("You judge.");
  expect(judge.requests[0]!.tools).toHaveLength(1);
  expect(judge.requests[1]!.messages.at(-1)!.text).toContain("notes.md");
  const results = result.messages.flatMap((message) => (ToolMessage.isInstance(message) ? message.text : []));
  expect(results.at(-1)).toBe("Judged.");
});

it("a call without a result gets one in the thread, before the run", async () => {
  const model = new ScriptedModel(["Done."]);
  const agent = createAgent({ model, middleware: [createPatchToolCallsMiddleware()] });
  const open = { role: "assistant", content: "", tool_calls: [{ id: "c1", name: "look", args: {} }] };
  const { messages } = await agent.invoke({
    messages: [{ role: "user", content: "go" }, open, { role: "user", content: "and?" }],
  } as never);
  expect(messages.map(({ type }) => type)).toEqual(["human", "ai", "tool", "human", "ai"]);
});

it("a sandbox is recognized by its id and its execute", () => {
  expect(isSandboxBackend(new LocalShellBackend())).toBe(true);
  expect(isSandboxBackend(new StateBackend())).toBe(false);
  expect(isSandboxBackend(undefined)).toBe(false);
  const first = { lsInfo: () => [], readRaw: () => ({ content: "" }), read: () => "", write: () => ({}) };
  const execute = () => ({ output: "", exitCode: 0, truncated: false });
  expect(isSandboxBackend(adaptSandboxProtocol({ ...first, id: "s", execute }))).toBe(true);
});
