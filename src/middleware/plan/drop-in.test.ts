import {
  AIMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
  type BaseMessage,
} from "@langchain/core/messages";
import { createAgent, todoListMiddleware, tool } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../../deep/index.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import { planMiddleware } from "./index.ts";

type Middleware = ReturnType<typeof planMiddleware>;
interface TheirTodo {
  content: string;
  status: "pending" | "in_progress" | "completed";
}

const work = tool(() => "worked", { name: "work", description: "work", schema: z.object({}) });

/** What a user of the agent sees of a run, told in LangChain's terms. */
async function runOf(middleware: Middleware, steps: Step[]) {
  const model = new ScriptedModel(steps);
  const agent = createAgent({ model, tools: [work], middleware: [middleware] });
  const input = { messages: [new HumanMessage("go")] };
  const state: object = await agent.invoke(input, { recursionLimit: 100 });
  const { messages, todos, ...rest } = state as { messages: BaseMessage[]; todos: TheirTodo[] };
  return {
    messages: messages.map((message) => [
      message.getType(),
      message.name,
      message.text,
      AIMessage.isInstance(message) ? message.tool_calls?.map(({ name, args }) => [name, args]) : undefined,
      ToolMessage.isInstance(message) ? (message.status ?? "success") : undefined,
    ]),
    todos: todos.map(({ content, status }) => ({ content, status })),
    more: Object.keys(rest),
    extra: [...new Set(todos.flatMap((todo) => Object.keys(todo)))].filter(
      (key) => key !== "content" && key !== "status",
    ),
    requests: model.requests.map(({ messages: sent }) => sent.slice(1).map(({ text }) => text)),
  };
}

const theirs = () => todoListMiddleware() as unknown as Middleware;
const ours = () => planMiddleware({ preset: "classic", reminders: false }) as unknown as Middleware;
const write = (...todos: [content: string, status: TheirTodo["status"]][]) =>
  callTool("write_todos", { todos: todos.map(([content, status]) => ({ content, status })) });

describe("classic without reminders", () => {
  it.each<[string, Step[]]>([
    ["no plan", ["Hello."]],
    ["an empty plan", [write(), "Hello."]],
    [
      "a plan that grows, shrinks, goes back and is left open",
      [
        write(["Read", "in_progress"], ["Build", "pending"]),
        callTool("work"),
        write(["Read", "completed"], ["Build", "in_progress"], ["Check", "pending"]),
        ...Array.from({ length: 8 }, () => callTool("work")),
        write(["Read", "pending"], ["Check", "in_progress"]),
        "Enough.",
      ],
    ],
    [
      "several items in progress, or none, and the same words twice",
      [
        write(["Read", "in_progress"], ["Build", "in_progress"], ["Read", "pending"]),
        write(["Read", "completed"], ["Build", "completed"], ["Read", "pending"]),
        write(["Read", "completed"], ["Build", "completed"], ["Read", "completed"]),
        write(["Another plan", "pending"]),
        "Done.",
      ],
    ],
    [
      "a long list, and a work call beside the write",
      [
        [
          write(...Array.from({ length: 250 }, (_, n) => [`step ${n}`, "pending"] as [string, "pending"])),
          callTool("work"),
        ],
        "Done.",
      ],
    ],
  ])("does what LangChain's todoListMiddleware does: %s", async (_, steps) => {
    const [their, our] = [await runOf(theirs(), steps), await runOf(ours(), steps)];
    expect({ ...our, extra: [], more: [] }).toEqual({ ...their, more: [] });
    expect(their.more).toEqual([]);
    // Fields that a reader of LangChain's type does not look at, and the middleware's own memory.
    expect(["id", "actuals"]).toEqual(expect.arrayContaining(our.extra));
    expect(our.more).toEqual([]);
  });

  it("refuses parallel writes as LangChain does, and lets the model recover", async () => {
    const steps: Step[] = [
      [write(["a", "pending"]), write(["b", "pending"])],
      write(["c", "in_progress"]),
      "Recovered.",
    ];
    const [their, our] = [await runOf(theirs(), steps), await runOf(ours(), steps)];
    const refusals = (run: typeof our) =>
      run.messages.slice(2, 4).map(([type, name, , , reply]) => [type, name, reply]);
    expect(refusals(our)).toEqual(refusals(their));
    expect([their.messages.length, their.todos]).toEqual([4, []]);
    expect(our.todos).toEqual([{ content: "c", status: "in_progress" }]);
    expect(our.messages.at(-1)![2]).toBe("Recovered.");
  });

  it("answers what LangChain's refuses by its schema in words, or understands it", async () => {
    const bad = callTool("write_todos", { todos: [{ content: "a", status: "perhaps" }] });
    const near = callTool("write_todos", { todos: [{ text: "a", status: "done" }] });
    const their = await runOf(theirs(), [bad, "ok"]);
    const our = await runOf(ours(), [bad, near, "ok"]);
    expect(their.messages[2]![2]).toContain("did not match expected schema");
    expect(our.messages[2]![2]).toContain(
      'invalid status "perhaps"; use one of pending, in_progress, completed.',
    );
    expect([their.todos, our.todos]).toEqual([[], [{ content: "a", status: "completed" }]]);
  });
});

/** LangChain's own cases, told by what they ask of the middleware. */
describe("exact", () => {
  const exact = (options: object = {}) =>
    planMiddleware({ preset: "classic", exact: true, ...options }) as unknown as Middleware;
  const requestsOf = async (middleware: Middleware, systemPrompt?: string | SystemMessage) => {
    const model = new ScriptedModel(["Hello."]);
    const agent = createAgent({
      model,
      tools: [],
      middleware: [middleware],
      ...(systemPrompt && { systemPrompt }),
    });
    await agent.invoke({ messages: [new HumanMessage("go")] });
    return model.requests[0]!;
  };

  it("has the name, the hook and the tool that LangChain's has", () => {
    const [our, their] = [exact(), theirs()];
    expect(our.name).toBe("todoListMiddleware");
    expect(Object.keys(our).toSorted()).toEqual(Object.keys(their).toSorted());
    const described = ({ tools = [] }: Middleware) =>
      (tools as { name: string; description: string }[]).map(({ name, description }) => [name, description]);
    expect(described(our)).toEqual(described(their));
  });

  it.each([
    ["without a prompt", undefined],
    ["with a text", "Be brief."],
    ["with blocks", new SystemMessage({ content: [{ type: "text", text: "Be brief." }] })],
  ])("puts the same blocks into the system message, %s", async (_, systemPrompt) => {
    const [our, their] = [await requestsOf(exact(), systemPrompt), await requestsOf(theirs(), systemPrompt)];
    expect(our.messages[0]!.content).toEqual(their.messages[0]!.content);
    expect(our.tools).toEqual(their.tools);
  });

  it("accepts a custom prompt and tool description", async () => {
    const own = { systemPrompt: "Plan well.", toolDescription: "Write it down." };
    const { messages, tools } = await requestsOf(exact(own));
    expect(messages[0]!.text).toContain("Plan well.");
    expect(JSON.stringify(tools)).toContain("Write it down.");
  });

  it("answers its tool with a command that has the list and says it", async () => {
    const [write_todos] = exact().tools as unknown as {
      invoke: (call: object) => Promise<{ update: unknown }>;
    }[];
    const todos = [{ content: "Read", status: "pending" }];
    const call = { name: "write_todos", args: { todos }, id: "call-1", type: "tool_call" };
    const { update } = await write_todos!.invoke(call);
    expect(update).toMatchObject({
      todos,
      messages: [{ content: `Updated todo list to ${JSON.stringify(todos)}`, tool_call_id: "call-1" }],
    });
  });

  it.each<[string, Step[]]>([
    ["no plan", ["Hello."]],
    ["one item", [write(["Read", "pending"]), "Done."]],
    [
      "several, over several turns",
      [
        write(["Read", "in_progress"], ["Build", "pending"]),
        callTool("work"),
        write(["Read", "completed"], ["Build", "completed"]),
        "Done.",
      ],
    ],
    ["a list that is emptied", [write(["Read", "pending"]), write(), "Done."]],
    [
      "two writes in one turn, which end the run",
      [[write(["a", "pending"]), write(["b", "pending"])], "Never said."],
    ],
    [
      "three writes beside a call",
      [
        [write(["a", "pending"]), write(["b", "pending"]), write(["c", "pending"]), callTool("work")],
        "Done.",
      ],
    ],
    ["a status that is none", [callTool("write_todos", { todos: [{ content: "a", status: "x" }] }), "Done."]],
  ])("leaves the state that LangChain's leaves: %s", async (_, steps) => {
    expect(await runOf(exact(), steps)).toEqual(await runOf(theirs(), steps));
  });

  it("is refused with options that it cannot have, and in a harness", () => {
    expect(() => planMiddleware({ exact: true } as never)).toThrow(
      'preset: Invalid input: expected "classic"',
    );
    expect(() => planMiddleware({ preset: "classic", exact: true, maxItems: 3 } as never)).toThrow(
      "maxItems",
    );
    expect(() => createDeepAgent({ plan: { exact: true } as never })).toThrow("exact");
  });
});

it("an agent with two plans is refused at the first call, which names what to remove", async () => {
  const model = new ScriptedModel(["Hello."]);
  const agent = createAgent({ model, tools: [], middleware: [ours(), theirs()] });
  await expect(agent.invoke({ messages: [new HumanMessage("go")] })).rejects.toThrow(
    "the agent has two tools write_todos: remove todoListMiddleware from middleware",
  );
  // In front of it, LangChain refuses it before our middleware is asked.
  const other = createAgent({ model, tools: [], middleware: [theirs(), ours()] });
  await expect(other.invoke({ messages: [new HumanMessage("go")] })).rejects.toThrow(
    'middleware "todoListMiddleware": write_todos. This is not supported',
  );
  expect(model.requests).toEqual([]);
});
