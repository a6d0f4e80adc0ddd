import { HumanMessage, type BaseMessage } from "@langchain/core/messages";
import type { ClientTool } from "@langchain/core/tools";
import { Command, interrupt, MemorySaver } from "@langchain/langgraph";
import { createAgent, tool, type AnyAgentMiddleware, type InterruptOnConfig } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { HarnessError } from "../../errors.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import { planMiddleware } from "../plan/index.ts";
import { toolErrors } from "../tool-errors/index.ts";
import { consentMiddleware, type ConsentOptions, type ConsentRequest } from "./index.ts";

const go = { messages: [new HumanMessage("go")] };
const config = { configurable: { thread_id: "t" } };
const send = (to: string, id = to) => callTool("send", { to }, id);
const look = (id = "look") => callTool("look", {}, id);

/** Interrupts arrive as their calls stop. */
const order = ["ann", "bob", "cy"];

interface Open {
  id: string;
  value: ConsentRequest;
}

/** An agent that sends letters, for which it needs consent, and looks around, for which it needs none. */
function sender(
  turns: Step[],
  { rule = true, before = [] }: { rule?: boolean | InterruptOnConfig; before?: AnyAgentMiddleware[] } = {},
) {
  const sent: string[] = [];
  let looks = 0;
  const tools: ClientTool[] = [
    tool(
      ({ to }: { to: string }) => {
        sent.push(to);
        return `sent to ${to}`;
      },
      { name: "send", description: "s", schema: z.object({ to: z.string() }) },
    ),
    tool(() => `looked ${++looks}`, { name: "look", description: "l", schema: z.object({}) }),
  ];
  const model = new ScriptedModel([...turns, "ok"]);
  const checkpointer = new MemorySaver();
  const consent = consentMiddleware({ interruptOn: { send: rule } }) as AnyAgentMiddleware;
  const middleware: AnyAgentMiddleware[] = [...before, consent];
  const build = () => createAgent({ model, tools, middleware, checkpointer });
  const agent = build();
  const run = async (input: unknown, by = agent): Promise<Open[]> => {
    const { __interrupt__: open = [] } = (await by.invoke(input as never, config)) as {
      __interrupt__?: Open[];
    };
    return open.toSorted((one, other) => order.indexOf(one.value.call) - order.indexOf(other.value.call));
  };
  return {
    agent,
    build,
    model,
    sent,
    looks: () => looks,
    run,
    start: () => run(go),
    resume: (resume: unknown) => run(new Command({ resume })),
    results: () => texts(model.requests.at(-1)!.messages),
  };
}

function texts(messages: readonly BaseMessage[]): Record<string, string> {
  return Object.fromEntries(
    messages.flatMap((message) =>
      message.getType() === "tool"
        ? [[(message as unknown as { tool_call_id: string }).tool_call_id, message.text]]
        : [],
    ),
  );
}

const refusal = (to: string) => `The user does not allow this send call: ${to}`;

describe("consent", () => {
  it("asks about one call in the format that LangChain's user interfaces read", async () => {
    const { start } = sender([[look(), send("ann", "c1")]]);
    const [question, ...others] = await start();
    expect(others).toEqual([]);
    const action = {
      name: "send",
      args: { to: "ann" },
      description: "The agent asks for permission to call send.",
    };
    const allowed = ["approve", "edit", "reject"];
    expect(question!.value).toEqual({
      type: "consent",
      version: 1,
      owner: "main",
      call: "c1",
      name: "send",
      args: { to: "ann" },
      allowedDecisions: allowed,
      actionRequests: [action],
      action_requests: [action],
      reviewConfigs: [{ actionName: "send", allowedDecisions: allowed }],
      review_configs: [{ action_name: "send", allowed_decisions: allowed }],
    });
  });

  it("can be described, and the schema of arguments handed on", async () => {
    const argsSchema = { type: "object" };
    const description: InterruptOnConfig["description"] = ({ args }) => `To ${String(args["to"])}?`;
    const rule: InterruptOnConfig = { allowedDecisions: ["edit"], description, argsSchema };
    const { start } = sender([send("ann")], { rule });
    const [question] = await start();
    expect(question!.value.action_requests[0]!.description).toBe("To ann?");
    expect(question!.value.review_configs[0]).toMatchObject({ args_schema: argsSchema });
    expect(question!.value.reviewConfigs[0]).toMatchObject({ argsSchema });
  });

  it("is not asked for where the rule says so", async () => {
    const rule: InterruptOnConfig = {
      allowedDecisions: ["approve", "reject"],
      when: ({ toolCall }) => toolCall.args["to"] !== "ann",
    };
    const { start, sent } = sender([[send("ann"), send("bob")]], { rule });
    const open = await start();
    expect(open.map(({ value }) => value.args["to"])).toEqual(["bob"]);
    expect(sent).toEqual(["ann"]);
  });

  it("does not answer a question that the call itself asks, even if the rule changes", async () => {
    let isAllowed = false;
    const rule: InterruptOnConfig = { allowedDecisions: ["approve", "reject"], when: () => !isAllowed };
    const confirm = tool(() => `The answer: ${interrupt("Which one?")}`, {
      name: "confirm",
      description: "c",
      schema: z.object({}),
    });
    const model = new ScriptedModel([callTool("confirm", {}, "c"), "ok"]);
    const middleware = [consentMiddleware({ interruptOn: { confirm: rule } }) as AnyAgentMiddleware];
    const agent = createAgent({ model, tools: [confirm], middleware, checkpointer: new MemorySaver() });
    const resume = async (value: unknown) => {
      const { __interrupt__: [open] = [] } = (await agent.invoke(value as never, config)) as {
        __interrupt__?: Open[];
      };
      return open;
    };
    const consent = await resume(go);
    const own = await resume(new Command({ resume: { [consent!.id]: { type: "approve" } } }));
    expect(own!.value).toBe("Which one?");
    isAllowed = true;
    await resume(new Command({ resume: { [own!.id]: "the left one" } }));
    expect(texts(model.requests.at(-1)!.messages)).toEqual({ c: "The answer: the left one" });
  });

  it("costs no graph step", async () => {
    const steps = async (rule: boolean): Promise<number> => {
      const { start, agent } = sender([look(), look()], { rule });
      await start();
      return ((await agent.graph.getState(config)).metadata as { step: number }).step;
    };
    expect(await steps(true)).toBe(await steps(false));
    expect(Object.keys(sender([]).agent.graph.nodes).toSorted()).toEqual(
      ["__start__", "model_request", "tools"].toSorted(),
    );
  });

  it("needs somewhere to wait, and says so to the developer", async () => {
    const agent = createAgent({
      model: new ScriptedModel([send("ann"), "ok"]),
      tools: [tool(() => "sent", { name: "send", description: "s", schema: z.object({ to: z.string() }) })],
      middleware: [toolErrors(), consentMiddleware({ interruptOn: { send: true } })],
    });
    const error = await agent.invoke(go).catch((reason: unknown) => reason);
    expect(HarnessError.from(error)?.message).toContain("consentMiddleware needs a checkpointer");
  });

  it("is not switched off by a rule that cannot be read", () => {
    const build = (interruptOn: object) => () => consentMiddleware({ interruptOn } as ConsentOptions);
    expect(build({ send: {} })).toThrow("interruptOn.send.allowedDecisions");
    expect(build({ send: { allowedDecisions: [] } })).toThrow("must name at least one decision");
    expect(build({ send: { allowedDecisions: ["approve"], descripton: "x" } })).toThrow("descripton");
  });
});

describe("a decision", () => {
  for (const resume of [
    { decisions: [{ type: "approve" }] },
    { type: "approve" },
    [{ type: "approve" }],
    [{ type: "accept", args: null }],
    [{ type: "accept", args: { action: "send", args: { to: "ann" } } }],
    "approve",
    true,
  ]) {
    it(`approves: ${JSON.stringify(resume)}`, async () => {
      const { start, resume: answer, sent, results } = sender([send("ann")]);
      await start();
      expect(await answer(resume)).toEqual([]);
      expect(sent).toEqual(["ann"]);
      expect(results()).toEqual({ ann: "sent to ann" });
    });
  }

  for (const resume of [
    { decisions: [{ type: "reject", message: "too early" }] },
    { type: "reject", reason: "too early" },
    [{ type: "reject", message: "too early" }],
  ]) {
    it(`rejects with a reason: ${JSON.stringify(resume)}`, async () => {
      const { start, resume: answer, sent, model } = sender([send("ann")]);
      await start();
      await answer(resume);
      expect(sent).toEqual([]);
      expect(model.requests[1]!.messages.at(-1)).toMatchObject({
        content: "The user does not allow this send call: too early",
        status: "error",
        name: "send",
      });
    });
  }

  for (const resume of [
    { type: "reject" },
    [{ type: "ignore", args: null }],
    { decisions: [{ type: "reject", message: "" }] },
  ]) {
    it(`rejects without a reason, and says what to do: ${JSON.stringify(resume)}`, async () => {
      const { start, resume: answer, results } = sender([send("ann")]);
      await start();
      await answer(resume);
      expect(results()["ann"]).toMatch(/^The user does not allow this send call\. .*find another way/);
    });
  }

  for (const resume of [
    [{ type: "response", args: "write bob" }],
    { type: "respond", message: "write bob" },
  ]) {
    it(`answers in the place of the call: ${JSON.stringify(resume)}`, async () => {
      const { start, resume: answer, results, sent } = sender([send("ann")]);
      await start();
      await answer(resume);
      expect(sent).toEqual([]);
      expect(results()["ann"]).toBe("This send call was not run. The user says instead: write bob");
    });
  }

  for (const resume of [
    { type: "edit", args: { to: "bob" } },
    { decisions: [{ type: "edit", editedAction: { name: "send", args: { to: "bob" } } }] },
    { decisions: [{ type: "edit", edited_action: { name: "send", args: { to: "bob" } } }] },
    [{ type: "edit", args: { action: "send", args: { to: "bob" } } }],
  ]) {
    it(`edits the call and notifies the model: ${JSON.stringify(resume)}`, async () => {
      const { start, resume: answer, sent, results } = sender([send("ann")]);
      await start();
      await answer(resume);
      expect(sent).toEqual(["bob"]);
      expect(results()["ann"]).toBe('[The user changed this call before it ran: to is "bob"]\nsent to bob');
    });
  }

  it("to edit that changes nothing is an approval", async () => {
    const { start, resume, results } = sender([send("ann")]);
    await start();
    await resume({ type: "edit", args: { to: "ann" } });
    expect(results()["ann"]).toBe("sent to ann");
  });

  it.each([
    ["perhaps", 'got "perhaps"'],
    [{ type: "allow" }, "Resume with"],
    [{ type: "edit" }, "An edit needs all arguments"],
    [{ type: "edit", editedAction: { name: "send" } }, "An edit needs all arguments"],
    [{ type: "edit", args: { to: 7 } }, "do not fit send: to: Invalid input: expected string"],
    [{ type: "edit", editedAction: { name: "look", args: {} } }, 'To have "look" called, reject it'],
    [{ type: "respond" }, "Resume with"],
    [7, "got 7"],
  ])("is requested again when it has no valid meaning: %j", async (wrong, problem) => {
    const { start, resume, sent, results } = sender([send("ann")]);
    await start();
    const [again] = await resume(wrong);
    expect(again!.value.error).toContain(problem);
    expect(again!.value.action_requests[0]!.description).toContain(problem);
    expect(sent).toEqual([]);
    const [more] = await resume({ [again!.id]: "what?" });
    expect(more!.value.error).toContain('got "what?"');
    expect(await resume({ type: "approve" })).toEqual([]);
    expect(results()["ann"]).toBe("sent to ann");
  });

  it("is checked against the tool's schema when it edits, including JSON Schema", async () => {
    const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] } as const;
    const agent = createAgent({
      model: new ScriptedModel([callTool("count", { n: 1 }), "ok"]),
      tools: [tool(({ n }: { n: number }) => `counted ${n}`, { name: "count", description: "c", schema })],
      middleware: [consentMiddleware({ interruptOn: { count: true } })],
      checkpointer: new MemorySaver(),
    });
    await agent.invoke(go, config);
    const edit = (args: object) => new Command({ resume: { type: "edit", args } });
    const again = (await agent.invoke(edit({ n: "two" }), config)) as unknown as { __interrupt__: Open[] };
    expect(again.__interrupt__[0]!.value.error).toContain("These arguments do not fit count: ");
    const { messages } = await agent.invoke(edit({ n: 2 }), config);
    expect(messages.at(-2)!.text).toContain("counted 2");
  });

  it.each([0, 2])("in a list of %d for one call is asked for again", async (length) => {
    const { start, resume, sent } = sender([send("ann")]);
    await start();
    const [again] = await resume({ decisions: Array.from({ length }, () => ({ type: "approve" })) });
    expect(again!.value.error).toContain(`in this order: send; got ${length}.`);
    expect(sent).toEqual([]);
    expect(await resume({ decisions: [{ type: "approve" }] })).toEqual([]);
    expect(sent).toEqual(["ann"]);
  });

  it("is requested again when the rule does not allow it", async () => {
    const { start, resume, sent } = sender([send("ann")], {
      rule: { allowedDecisions: ["approve", "reject"] },
    });
    await start();
    const [again] = await resume({ type: "edit", args: { to: "bob" } });
    expect(again!.value.error).toBe(
      'edit is not allowed for send. Resume with {type:"approve"} or {type:"reject",message}.',
    );
    expect(sent).toEqual([]);
  });
});

describe("calls in the same turn as a call that awaits the user's decision", () => {
  const turn = [send("ann"), look(), send("bob"), send("cy")];
  const by = (open: readonly Open[], decisions: Record<string, unknown>) =>
    Object.fromEntries(
      open.flatMap(({ id, value }) => (value.call in decisions ? [[id, decisions[value.call]]] : [])),
    );

  const yes = { type: "approve" };
  const no = { type: "reject", message: "Keep ann out of this." };

  it("run, even when the user rejects that call", async () => {
    const { start, resume, sent, looks, results } = sender([turn]);
    const open = await start();
    expect(open.map(({ value }) => value.call)).toEqual(["ann", "bob", "cy"]);
    expect(looks()).toBe(1);
    const approve = { type: "approve" };
    const rest = await resume(
      by(open, { ann: approve, bob: { type: "reject", message: "no" }, cy: approve }),
    );
    expect(rest).toEqual([]);
    expect(sent.toSorted()).toEqual(["ann", "cy"]);
    expect(looks()).toBe(1);
    expect(results()).toEqual({
      ann: "sent to ann",
      look: "looked 1",
      bob: refusal("no"),
      cy: "sent to cy",
    });
  });

  for (const [form, decisions] of Object.entries({
    "by their ids": (open: readonly Open[]) => by(open, { ann: no, bob: yes, cy: yes }),
    "in a list": () => ({ decisions: [no, yes, yes] }),
  })) {
    it(`follow the decisions ${form} even if a rule changes with the answers`, async () => {
      let isAllowed = false;
      const rule: InterruptOnConfig = {
        allowedDecisions: ["approve", "reject"],
        when: () => !isAllowed,
      };
      const { start, run, build, sent, results } = sender([turn], { rule });
      const open = await start();
      isAllowed = true;
      expect(await run(new Command({ resume: decisions(open) }), build())).toEqual([]);
      expect(sent.toSorted()).toEqual(["bob", "cy"]);
      expect(results()["ann"]).toBe(refusal("Keep ann out of this."));
    });
  }

  it("run without a question when a rule allows them on an unanswered resume", async () => {
    let isAllowed = false;
    const { start, run, sent } = sender([send("ann")], {
      rule: { allowedDecisions: ["approve", "reject"], when: () => !isAllowed },
    });
    await start();
    isAllowed = true;
    expect(await run(null)).toEqual([]);
    expect(sent).toEqual(["ann"]);
  });

  it("accept decisions later in another process, without repeated work or questions", async () => {
    const { start, run, resume, sent, build, looks, results } = sender([turn]);
    const open = await start();
    const rest = await resume(by(open, { bob: { decisions: [{ type: "approve" }] } }));
    expect(rest.map(({ value }) => value.call)).toEqual(["ann", "cy"]);
    expect(sent).toEqual(["bob"]);
    const second = build();
    expect((await run(null, second)).map(({ value }) => value.call)).toEqual(["ann", "cy"]);
    const later = new Command({ resume: by(rest, { ann: "approve", cy: "reject" }) });
    expect(await run(later, second)).toEqual([]);
    expect(sent).toEqual(["bob", "ann"]);
    expect(looks()).toBe(1);
    expect(results()["cy"]).toContain("does not allow");
  });

  it("are decided about in one list, in the order of the turn", async () => {
    const { start, resume, sent, results } = sender([turn]);
    await start();
    const decisions = [
      { type: "reject", message: "no" },
      { type: "edit", editedAction: { name: "send", args: { to: "bea" } } },
      { type: "approve" },
    ];
    expect(await resume({ decisions })).toEqual([]);
    expect(sent.toSorted()).toEqual(["bea", "cy"]);
    expect(results()["ann"]).toBe(refusal("no"));
    expect(results()["bob"]).toContain("sent to bea");
  });

  it("stay distinct even when a model gives them the same id", async () => {
    const { start, resume, sent } = sender([[send("ann", "x"), send("bob", "x")]]);
    await start();
    await resume({ decisions: [{ type: "reject" }, { type: "approve" }] });
    expect(sent).toEqual(["bob"]);
  });

  it("keep their decisions when the decision for another call is unreadable", async () => {
    const { start, resume, sent } = sender([turn]);
    await start();
    const rest = await resume({ decisions: [{ type: "approve" }, { type: "hm" }, { type: "reject" }] });
    expect(rest.map(({ value }) => value.call)).toEqual(["bob"]);
    expect(sent).toEqual(["ann"]);
    expect(await resume({ decisions: [{ type: "approve" }] })).toEqual([]);
    expect(sent).toEqual(["ann", "bob"]);
  });

  // A user interface that shows one interrupt of several answers without its id; LangGraph hands that to all.
  for (const one of [{ decisions: [{ type: "approve" }] }, { type: "approve" }]) {
    it(`are all shown again after a decision for one: ${JSON.stringify(one)}`, async () => {
      const { start, resume, sent } = sender([turn]);
      await start();
      const again = await resume(one);
      expect(sent).toEqual([]);
      expect(again.map(({ value }) => value.call)).toEqual(["ann", "bob", "cy"]);
      expect(again[1]!.value.error).toContain("in this order: send, send, send; got 1.");
      expect(again[1]!.value.action_requests.map(({ args }) => args["to"])).toEqual(["ann", "bob", "cy"]);
      const still = await resume({ [again[0]!.id]: one });
      expect(still.map(({ value }) => value.call)).toEqual(["bob", "cy"]);
      expect(sent).toEqual(["ann"]);
      const reject = { type: "reject" };
      expect(await resume({ decisions: [reject, reject, { type: "approve" }] })).toEqual([]);
      expect(sent).toEqual(["ann", "cy"]);
    });
  }
});

describe("an answer without an id, when some calls of the turn have been decided about", () => {
  const approve = { type: "approve" };
  const two = [send("ann"), send("bob")];

  it("applies to the only open call, also in another process", async () => {
    const { start, resume, run, build, sent } = sender([two]);
    const [ann] = await start();
    await resume({ [ann!.id]: approve });
    expect(await run(new Command({ resume: { type: "reject" } }), build())).toEqual([]);
    expect(sent).toEqual(["ann"]);
  });

  it("must list a decision for each open call, and only open calls are shown", async () => {
    const { start, resume, sent } = sender([[...two, send("cy")]]);
    const [ann] = await start();
    await resume({ [ann!.id]: approve });
    const again = await resume(approve);
    expect(again.map(({ value }) => value.action_requests.map(({ args }) => args["to"]))).toEqual([
      ["bob", "cy"],
      ["bob", "cy"],
    ]);
    expect(again[0]!.value).toMatchObject({ putAside: approve });
    expect(await resume({ decisions: [{ type: "reject" }, approve] })).toEqual([]);
    expect(sent).toEqual(["ann", "cy"]);
  });

  it("is not an answer that was discarded before and that LangGraph delivers again", async () => {
    const { start, resume, run, sent } = sender([two]);
    const [ann] = await start();
    await resume(approve);
    const calls = (open: Open[]) => open.map(({ value }) => value.call);
    expect(calls(await resume({ [ann!.id]: approve }))).toEqual(["bob"]);
    expect(calls(await run(null))).toEqual(["bob"]);
    expect(sent).toEqual(["ann"]);
    const [still] = await resume(approve);
    expect(still!.value.error).toContain("Answer this question by its interrupt's id.");
    expect(await resume({ type: "reject", message: "not him" })).toEqual([]);
    expect(sent).toEqual(["ann"]);
  });
});

describe("a plan that needs approval", () => {
  it("is decided about before the calls of its turn are asked for", async () => {
    const plan = callTool("write_todos", { todos: ["Write", "Post"] }, "plan");
    const { start, resume, sent } = sender(
      [[send("ann"), plan], callTool("update_todos", { cancel: "1,2" })],
      {
        before: [planMiddleware({ approval: "first" }) as AnyAgentMiddleware],
      },
    );
    expect((await start()).map(({ value }) => value.type)).toEqual(["plan-approval"]);
    const open = await resume({ type: "approve" });
    expect(open.map(({ value }) => value.type)).toEqual(["consent"]);
    expect(await resume({ decisions: [{ type: "approve" }] })).toEqual([]);
    expect(sent).toEqual(["ann"]);
  });

  it("leaves nothing to ask for when the user rejects it", async () => {
    const plan = callTool("write_todos", { todos: ["Write", "Post"] }, "plan");
    const { start, resume, sent } = sender([[send("ann"), plan]], {
      before: [planMiddleware({ approval: "first" }) as AnyAgentMiddleware],
    });
    await start();
    expect(await resume({ type: "reject" })).toEqual([]);
    expect(sent).toEqual([]);
  });
});
