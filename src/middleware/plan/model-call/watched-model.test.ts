import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, AIMessageChunk, HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { ChatGenerationChunk, type ChatResult } from "@langchain/core/outputs";
import { fakeModel } from "@langchain/core/testing";
import { createAgent, createMiddleware, type AgentMiddleware } from "langchain";
import { describe, expect, it } from "vitest";
import { ScriptedModel } from "../../../testing/index.ts";
import { brokenCallsMiddleware } from "../../broken-calls/index.ts";
import { planMiddleware } from "../index.ts";
import { watchedModel, type Watch } from "./watched-model.ts";

const hello = [new HumanMessage("hello")];
const extra = new HumanMessage("extra");
const append: Watch = { onRequest: (messages) => [...messages, extra] };

/** A model such as `initChatModel` returns: it makes the real one when it is asked. */
class Configurable {
  readonly real = new ScriptedModel(["ok"]);
  readonly #secret = "kept";
  _getModelInstance(): Promise<ScriptedModel> {
    return Promise.resolve(this.real);
  }
  secret(): string {
    return this.#secret;
  }
}

it("a watched model observes requests and answers in every way of wrapping", async () => {
  const ways: ((model: ScriptedModel) => Promise<unknown>)[] = [
    (model) => watchedModel(model, append).invoke(hello),
    (model) => watchedModel(model, append).bindTools([]).invoke(hello),
    (model) =>
      watchedModel(model, append)
        .withConfig({ tags: ["x"] })
        .invoke(hello),
    (model) => watchedModel(model.withConfig({ tags: ["x"] }), append).invoke(hello),
    (model) =>
      (watchedModel(model.withConfig({}), append) as unknown as { bound: ScriptedModel }).bound.invoke(hello),
  ];
  const answers: unknown[] = [];
  append.onAnswer = (answer) => void answers.push(answer);
  for (const way of ways) {
    const model = new ScriptedModel(["ok"]);
    expect(await way(model)).toBe(answers.at(-1));
    expect(model.requests[0]?.messages.at(-1)?.text).toBe("extra");
  }
});

it("a watched model follows a model created on demand and keeps private fields", async () => {
  const configurable = new Configurable();
  const watched = watchedModel(configurable, append);
  await (await watched._getModelInstance()).bindTools([]).invoke(hello);
  expect(configurable.real.requests[0]?.messages).toHaveLength(2);
  expect(watched.secret()).toBe("kept");
  expect(watched.constructor.name).toBe("Configurable");
});

/** A model that streams two pieces and the reason for the end of its answer, as providers' packages do. */
class Streaming extends BaseChatModel {
  _llmType(): string {
    return "streaming";
  }
  override bindTools(): this {
    return this;
  }
  _generate(): Promise<ChatResult> {
    throw new Error("The test streams.");
  }
  override async *_streamResponseChunks(): AsyncGenerator<ChatGenerationChunk> {
    yield new ChatGenerationChunk({ text: "fir", message: new AIMessageChunk("fir") });
    const generationInfo = { finish_reason: "length" };
    yield new ChatGenerationChunk({ text: "st", message: new AIMessageChunk("st"), generationInfo });
  }
}

describe("a model that an agent streams", () => {
  const streamed = async (model: BaseChatModel, middleware: AgentMiddleware): Promise<AIMessage> => {
    const agent = createAgent({ model, middleware: [middleware] });
    let state: { messages: BaseMessage[] } | undefined;
    for await (const [mode, part] of await agent.stream(
      { messages: hello },
      { streamMode: ["messages", "values"] },
    ))
      if (mode === "values") state = part;
    return state!.messages.at(-1) as AIMessage;
  };

  it.each([planMiddleware(), brokenCallsMiddleware()])(
    "answers if it can only generate",
    async (middleware) => {
      const model = fakeModel().respond(new AIMessage("42"));
      expect((await streamed(model, middleware as AgentMiddleware)).text).toBe("42");
    },
  );

  it("keeps the reason for the end of its answer, and is not changed", async () => {
    const model = new Streaming({});
    const seen: unknown[] = [];
    const watch = createMiddleware({
      name: "Watch",
      wrapModelCall: (request, handler) =>
        handler({
          ...request,
          model: watchedModel(watchedModel(request.model, { onRequest: (messages) => messages }), {
            onRequest: (messages) => messages,
            onAnswer: (answer) => void seen.push((answer as AIMessage).response_metadata["finish_reason"]),
          }),
        }),
    });
    await streamed(model, watch as AgentMiddleware);
    await streamed(model, watch as AgentMiddleware);
    expect(seen).toEqual(["length", "length"]);
    expect(Object.hasOwn(model, "_streamResponseChunks")).toBe(false);
  });
});
